import type { TokenUsage } from '@model-gateway/contracts';
import type { Clock, Log } from '@model-gateway/kernel';
import { UnsupportedByBackend, type Router } from '@model-gateway/router';
import { settle } from '../call/settle.ts';
import {
  attempt,
  settleFailure,
  type ActiveCall,
  type RouteRequest,
} from '../upstream/attempts.ts';
import type { UpstreamTelemetry } from '../upstream/upstream-telemetry.ts';
import { hasMedia } from '../upstream/has-media.ts';
import type { Meter } from '../usage/meter.ts';
import type { RequestCounter } from '../usage/request-counter.ts';
import { endingOf } from '../usage/served-status.ts';
import type { AnswerReader } from './answer-reader.ts';
import { billedUnits, unitsOfUpload } from './billed-units.ts';
import { uploadSeconds, type PassedCall } from './passed-call.ts';
import { readAnswer } from './read-answer.ts';
import { allowedBy } from '../chat/model-rules.ts';
import type { StreamCut } from '../chat/stream-turn.ts';
import { tokenUsage } from './reported-usage.ts';

/** The answer to a passed request. */
export interface PassedResponse {
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

interface PassDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface BegunAnswer extends ActiveCall {
  readonly reader: AnswerReader;
  readonly first: Buffer | undefined;
  /** By `performance.now()`; undefined if the answer arrived as a whole. */
  readonly firstTokenAt: number | undefined;
}

/** Serves a request of an API that needs no translation: route, pass, meter. Resolves when the answer has begun. */
export async function passCall(
  passed: PassedCall,
  dependencies: PassDependencies,
): Promise<PassedResponse> {
  const { operation, fields, source, onSign } = passed;
  const query = routeRequestOf(passed, dependencies);
  const { answer, lease, call } = await attempt(
    dependencies,
    query,
    async ({ backend, model }, signal, onFirstByte) => {
      if (backend.pass === undefined) throw cannotPass(backend.name, operation.capability);
      try {
        const request = { model, path: operation.path, content: source.contentFor(model) };
        const response = await backend.pass(request, signal);
        const reader = readAnswer(
          response,
          { operation, fields, model, onFirstByte, onSign },
          dependencies,
        );
        return { reader, first: await reader.next() };
      } catch (failure) {
        // A client that sends too much or nonsense is no failure of the upstream.
        throw source.upload?.failure() ?? failure;
      }
    },
  );
  const { reader, first } = answer;
  const isWhole = reader.length !== undefined;
  if (!isWhole) call.begun();
  const firstTokenAt = isWhole ? undefined : performance.now();
  const begun = { reader, first, lease, call, firstTokenAt };
  if (isWhole) {
    void lease.settle('success');
    await settleAnswer(passed, begun, dependencies, true);
  }
  return {
    backend: lease.backend.name,
    model: lease.model,
    contentType: reader.contentType,
    length: reader.length,
    deliver: (take) =>
      isWhole ? deliverWhole(begun, take) : deliver(passed, begun, dependencies, take),
  };
}

async function deliverWhole({ first }: BegunAnswer, take: WriteBytes): Promise<undefined> {
  if (first !== undefined) await take(first);
}

async function deliver(
  passed: PassedCall,
  begun: BegunAnswer,
  dependencies: PassDependencies,
  take: WriteBytes,
): Promise<StreamCut | undefined> {
  const { reader, first, lease, call } = begun;
  let isComplete = false;
  let usage: TokenUsage | undefined;
  try {
    for (let part = first; part !== undefined; part = await reader.next()) {
      if (passed.signal.aborted) return undefined;
      const written = take(part);
      if (written !== undefined) await written;
    }
    isComplete = true;
    void lease.settle('success');
  } catch (failure) {
    await settleFailure({ lease, call }, failure, passed.signal);
    if (passed.signal.aborted) return undefined;
    const { name } = lease.backend;
    dependencies.log.warn({ backend: name, error: failure }, 'an answer was interrupted');
    return { failure };
  } finally {
    if (!isComplete) reader.leave();
    void lease.settle('left');
    usage = await settleAnswer(passed, begun, dependencies, isComplete);
  }
  const last = isComplete && usage !== undefined ? reader.lastEvent?.(usage) : undefined;
  if (last !== undefined) await take(last);
  return undefined;
}

/** Settles an answer, complete or not; returns the billed usage. */
function settleAnswer(
  passed: PassedCall,
  { reader, lease, call, firstTokenAt }: BegunAnswer,
  { meter }: PassDependencies,
  isComplete: boolean,
): Promise<TokenUsage | undefined> {
  const { operation, fields, source, signal } = passed;
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
  return settle(passed, { lease, call }, observed, endingOf(isComplete, signal), meter);
}

function routeRequestOf(
  passed: PassedCall,
  { meter, requests }: Pick<PassDependencies, 'meter' | 'requests'>,
): RouteRequest {
  const { caller, operation, model, resolvedModel, provider, fields, source, signal, trace } =
    passed;
  const { upload } = source;
  return {
    model,
    resolved: resolvedModel,
    fallbacks: passed.fallbacks,
    capability: operation.capability,
    provider,
    allows: allowedBy(caller),
    signal,
    trace,
    onAccepted: () => requests.accepted(),
    hasMedia: () => upload !== undefined || hasMedia(fields['input']),
    ...(upload === undefined ? {} : { canRepeat: () => upload.canSend() }),
    async onLeft(lease) {
      // An upstream that has only a part of the request did nothing with it.
      if (upload?.isSent() === false) return;
      const seconds = uploadSeconds(source);
      const usage = tokenUsage(operation.promptTokens(fields, seconds), 0);
      const unitsOf = () => billedUnits(operation, fields, unitsOfUpload(seconds), usage);
      await settle(passed, { lease }, { usage, unitsOf }, 'left', meter);
    },
  };
}

const cannotPass = (backend: string, capability: string): UnsupportedByBackend =>
  new UnsupportedByBackend(
    'unsupported_operation',
    `backend '${backend}' does not support ${capability}`,
  );
