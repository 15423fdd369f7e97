import type { TokenUsage } from '@model-gateway/contracts';
import type { Clock, Log } from '@model-gateway/kernel';
import { UnsupportedByBackend } from '@model-gateway/router';
import type { RunningCall } from '../call/run-call.ts';
import { settleFailure, type ActiveAttempt } from '../upstream/attempts.ts';
import { hasMedia } from '../upstream/has-media.ts';
import { endingOf } from '../usage/served-status.ts';
import type { AnswerReader } from './answer-reader.ts';
import { billedUnits, unitsOfUpload } from './billed-units.ts';
import { uploadSeconds, type RelayedCall } from './relayed-call.ts';
import type { RelayedFields } from './operations.ts';
import { readAnswer } from './read-answer.ts';
import type { StreamCut } from '../chat/stream-turn.ts';
import { tokenUsage } from './reported-usage.ts';

/** The answer to a relayed request. */
export interface RelayedResponse {
  /** The name of the backend that serves it. */
  readonly backend: string;
  /** The model as that backend lists it. */
  readonly model: string;
  readonly contentType: string;
  /** The number of bytes, if it is known. */
  readonly length: number | undefined;
  /**
   * Writes the answer, that of a streamed text without the end mark, which the caller adds, or a part of it and then resolves
   * to its failure. Then the request is metered. Awaits the promise of the writer, if any. Call it once, also when the client
   * has disconnected.
   */
  deliver(take: WriteBytes): Promise<StreamCut | undefined>;
}

/** Writes some bytes; returns a promise while its buffer is full. */
export type WriteBytes = (bytes: Buffer) => Promise<void> | undefined;

interface RelayDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

interface BegunAnswer extends ActiveAttempt {
  readonly reader: AnswerReader;
  readonly first: Buffer | undefined;
  /** By `performance.now()`; undefined if the answer arrived as a whole. */
  readonly firstTokenAt: number | undefined;
}

/** Serves a request of an API that needs no translation. Resolves when the answer has begun. */
export async function relayCall(
  running: RunningCall<RelayedFields>,
  relayed: RelayedCall,
  dependencies: RelayDependencies,
): Promise<RelayedResponse> {
  const { body: fields } = running;
  const { operation, source, onSign } = relayed;
  const { answer, lease, tracked } = await running.attempt(
    wantedOf(running, relayed),
    async ({ backend, model }, signal, onFirstByte) => {
      if (backend.relay === undefined) throw cannotRelay(backend.name, operation.capability);
      try {
        const request = { model, path: operation.path, content: source.contentFor(model) };
        const response = await backend.relay(request, signal);
        const options = { operation, fields, model, onFirstByte, onSign };
        const reader = readAnswer(response, options, dependencies);
        return { reader, first: await reader.next() };
      } catch (failure) {
        // A client that sends too much or nonsense is no failure of the upstream.
        throw source.upload?.failure() ?? failure;
      }
    },
  );
  const { reader, first } = answer;
  const isWhole = reader.length !== undefined;
  if (!isWhole) tracked.begun();
  const firstTokenAt = isWhole ? undefined : performance.now();
  const begun = { reader, first, lease, tracked, firstTokenAt };
  if (isWhole) {
    void lease.settle('success');
    await settleAnswer(running, relayed, begun, true);
  }
  return {
    backend: lease.backend.name,
    model: lease.model,
    contentType: reader.contentType,
    length: reader.length,
    deliver: (take) =>
      isWhole ? deliverWhole(begun, take) : deliver(running, relayed, begun, dependencies, take),
  };
}

async function deliverWhole({ first }: BegunAnswer, take: WriteBytes): Promise<undefined> {
  if (first !== undefined) await take(first);
}

async function deliver(
  running: RunningCall<RelayedFields>,
  relayed: RelayedCall,
  begun: BegunAnswer,
  { log }: RelayDependencies,
  take: WriteBytes,
): Promise<StreamCut | undefined> {
  const { reader, first, lease, tracked } = begun;
  let isComplete = false;
  let usage: TokenUsage | undefined;
  try {
    for (let part = first; part !== undefined; part = await reader.next()) {
      if (running.signal.aborted) return undefined;
      const written = take(part);
      if (written !== undefined) await written;
    }
    isComplete = true;
    void lease.settle('success');
  } catch (failure) {
    await settleFailure({ lease, tracked }, failure, running.signal);
    if (running.signal.aborted) return undefined;
    const { name } = lease.backend;
    log.warn({ backend: name, error: failure }, 'an answer was interrupted');
    return { failure };
  } finally {
    if (!isComplete) reader.leave();
    void lease.settle('left');
    usage = await settleAnswer(running, relayed, begun, isComplete);
  }
  const last = isComplete && usage !== undefined ? reader.lastEvent?.(usage) : undefined;
  if (last !== undefined) await take(last);
  return undefined;
}

/** Settles an answer, complete or not; returns the billed usage. */
function settleAnswer(
  running: RunningCall<RelayedFields>,
  { operation, source }: RelayedCall,
  { reader, lease, tracked, firstTokenAt }: BegunAnswer,
  isComplete: boolean,
): Promise<TokenUsage | undefined> {
  const { body: fields, signal } = running;
  const seconds = uploadSeconds(source);
  const promptTokens = () =>
    isComplete && operation.isPromptReported ? 0 : operation.promptTokens(fields, seconds);
  const wasLeft = !isComplete && signal.aborted;
  const estimate = () =>
    tokenUsage(operation.promptTokens(fields, seconds), reader.generatedTokens);
  const observed = {
    usage: reader.usage({ isComplete, wasLeft, promptTokens }),
    unitsOf: (usage: TokenUsage) => billedUnits(operation, fields, reader.reported, usage),
    estimate,
    estimateUnits: () => billedUnits(operation, fields, unitsOfUpload(seconds), estimate()),
    firstTokenAt,
  };
  return running.settle({ lease, tracked }, observed, endingOf(isComplete, signal));
}

/** What the targets of a request must be able to do, and what is billed of one that its client leaves. */
function wantedOf(
  { body: fields }: RunningCall<RelayedFields>,
  { operation, source }: RelayedCall,
): Parameters<RunningCall<RelayedFields>['attempt']>[0] {
  const { upload } = source;
  return {
    capability: operation.capability,
    hasMedia: () => upload !== undefined || hasMedia(fields['input']),
    ...(upload === undefined ? {} : { canRepeat: () => upload.canSend() }),
    whenLeft() {
      // An upstream that has only a part of the request did nothing with it.
      if (upload?.isSent() === false) return undefined;
      const seconds = uploadSeconds(source);
      const usage = tokenUsage(operation.promptTokens(fields, seconds), 0);
      return {
        usage,
        unitsOf: () => billedUnits(operation, fields, unitsOfUpload(seconds), usage),
      };
    },
  };
}

const cannotRelay = (backend: string, capability: string): UnsupportedByBackend =>
  new UnsupportedByBackend(
    'unsupported_operation',
    `backend '${backend}' does not support ${capability}`,
  );
