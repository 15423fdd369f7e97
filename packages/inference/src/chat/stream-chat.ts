import type { AnswerPart, TokenUsage } from '@model-gateway/contracts';
import type { ChunkHead } from '@model-gateway/dialects';
import { newId, type Clock } from '@model-gateway/kernel';
import type { Lease } from '@model-gateway/router';
import { attempt, settleFailure, type ActiveCall } from '../upstream/attempts.ts';
import type { FallbackModel } from '../upstream/fallback-model.ts';
import type { AcceptedChat } from './accept-chat.ts';
import type { ChatDependencies } from './chat-turn.ts';
import { cannotChat } from './complete-chat.ts';
import { deltasOf, type ChatDelta } from '../stream/chat-delta.ts';
import { asksForUsage } from '../stream/chunk-fields.ts';
import type { OnSign } from '../stream/event-reader.ts';
import { routeRequestOf, type PreparedTurn } from './prepare-turn.ts';
import { relay, type Relay } from '../stream/relay.ts';
import { settleStream, type SettledTurn } from './settle-turn.ts';
import { createStreamObserver, type StreamObserver } from '../stream/stream-observer.ts';
import { upstreamTurn } from './upstream-turn.ts';

/** A turn that is streamed while it is generated. */
export interface StreamedChat {
  /** The name of the backend that serves the turn. */
  readonly backend: string;
  /** Fields of the request that this backend could not be sent. */
  readonly ignored: readonly string[] | undefined;
  /** The model as that backend lists it. */
  readonly model: string;
  /**
   * Writes the server-sent events without the end mark, which the caller adds, or without the event of the failure to which it
   * resolves. Then the turn is metered. Awaits the promise of the writer, if any. Call it once, also when the client has
   * disconnected.
   */
  deliver(take: WriteChunk): Promise<StreamCut | undefined>;
}

/** Why an answer is not whole. */
export interface StreamCut {
  readonly failure: unknown;
}

/** Writes some events; returns a promise while its buffer is full. */
export type WriteChunk = (events: Buffer) => Promise<void> | undefined;

interface StreamDependencies extends ChatDependencies {
  readonly clock: Clock;
}

/** A turn that is streamed in the form of another API. */
interface StreamedParts {
  readonly backend: string;
  readonly ignored: readonly string[] | undefined;
  readonly model: string;
  readonly head: ChunkHead;
  /** The first part, which is delivered too; undefined if there is none. */
  readonly first: AnswerPart | undefined;
  /** As `deliver` of a streamed chat: the parts, with the usage. */
  deliver(take: WriteParts): Promise<StreamCut | undefined>;
}

/** Writes some parts; returns a promise while its buffer is full. */
type WriteParts = (parts: readonly AnswerPart[]) => Promise<void> | undefined;

/** The end of a complete answer. */
export interface ChatEnd {
  readonly finishReason: string | null;
  readonly usage: TokenUsage;
  /** The upstream's name of the model. */
  readonly model: string;
  /** The id of the reply in its conversation. */
  readonly messageId: string | undefined;
}

interface Begun {
  readonly ignored: readonly string[] | undefined;
  /** Read and not yet delivered; empty unless parts are delivered. */
  readonly parts: AnswerPart[];
  readonly observer: StreamObserver;
  /** The fields of the gateway's own chunks. */
  readonly head: ChunkHead;
  readonly first: Buffer | undefined;
  readonly rest: Relay;
}

/** Begins a turn: resolves with the first chunk, so that an earlier failure can be retried on another backend. */
export async function streamChat(
  turn: PreparedTurn,
  dependencies: StreamDependencies,
  onSign: OnSign,
): Promise<StreamedChat> {
  const passesUsage = asksForUsage(turn.full['stream_options']);
  const options = { passesUsage, keepsParts: false, onSign };
  const { begun, delivery } = await begin(turn, dependencies, options);
  const { head, ignored } = begun;
  return {
    backend: delivery.activeCall.lease.backend.name,
    ignored,
    model: delivery.activeCall.lease.model,
    deliver: async (take) =>
      cutOf(
        await deliver(begun, delivery, dependencies, {
          part: take,
          // A client that requested the usage gets the billed estimate if the upstream did not report all of it.
          usage: (usage) => (passesUsage ? take(usageEvent(head, usage)) : undefined),
        }),
      ),
  };
}

/** The same for another API, which is written from the parts of the answer. */
export async function streamParts(
  turn: PreparedTurn,
  dependencies: StreamDependencies,
): Promise<StreamedParts> {
  const options = { passesUsage: true, keepsParts: true };
  const { begun, delivery } = await begin(turn, dependencies, options);
  const { head, parts, ignored } = begun;
  return {
    backend: delivery.activeCall.lease.backend.name,
    ignored,
    model: delivery.activeCall.lease.model,
    head,
    first: parts[0],
    deliver: async (take) =>
      cutOf(
        await deliver(begun, delivery, dependencies, {
          part: () => take(parts.splice(0)),
          usage: (usage) => take([...parts.splice(0), usagePart(usage)]),
        }),
      ),
  };
}

/** Serves an accepted turn; rejects when its answer is not whole. It is settled before that. */
export async function streamDeltas(
  turn: PreparedTurn,
  { lease: chosen, chosen: named, fallbacks }: AcceptedChat,
  dependencies: StreamDependencies,
  take: (deltas: readonly ChatDelta[]) => Promise<void> | undefined,
): Promise<ChatEnd> {
  const options = { passesUsage: true, keepsParts: true, keepsReply: true };
  const accepted = { ...turn, fallbacks };
  const { begun, delivery } = await begin(accepted, dependencies, { ...options, chosen, named });
  const { parts, observer } = begun;
  const ended = await deliver(begun, delivery, dependencies, {
    part: () => take(parts.splice(0).flatMap(deltasOf)),
    usage: () => undefined,
  });
  if (ended === undefined) throw new Error('the turn was stopped');
  if ('failure' in ended) throw ended.failure;
  const { finishReason = null, model = delivery.activeCall.lease.model } = observer;
  const { usage = NO_USAGE, messageId } = ended;
  return { finishReason, usage, model, messageId };
}

const NO_USAGE: TokenUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

interface BeginOptions {
  readonly passesUsage: boolean;
  readonly keepsParts: boolean;
  /** Whether the reply is needed in any case. */
  readonly keepsReply?: boolean;
  readonly onSign?: OnSign;
  /** The backend, and the model that it was chosen for, where that was done before. */
  readonly chosen?: Lease;
  readonly named?: FallbackModel;
}

async function begin(turn: PreparedTurn, dependencies: StreamDependencies, options: BeginOptions) {
  const { passesUsage, keepsParts, onSign, chosen, named } = options;
  const { full } = turn;
  const { clock, log } = dependencies;
  const { keepsReply = turn.record !== undefined || turn.memory !== 'disabled' } = options;
  const { n } = full;
  const parsesAll = n !== undefined && (keepsParts || keepsReply || n !== 1);
  const query = { ...routeRequestOf(turn, dependencies), ...named };
  const { answer, lease, call } = await attempt(
    dependencies,
    query,
    async ({ backend, model }, signal): Promise<Begun> => {
      if (backend.chatStream === undefined) throw cannotChat(backend.name);
      const stream = await backend.chatStream(upstreamTurn(turn, { backend, model }), signal);
      const observer = createStreamObserver({ keepsReply });
      const head = headOf(model, clock);
      const parts: AnswerPart[] = [];
      const reading = { passesUsage, parsesAll, log, onSign };
      const onPart = keepsParts ? (part: AnswerPart): void => void parts.push(part) : undefined;
      const rest = relay(stream, { ...reading, observer, head, onPart });
      return { ignored: stream.ignored, parts, observer, head, rest, first: await rest.next() };
    },
    chosen,
  );
  call.begun();
  lease.begun();
  const firstTokenAt = performance.now();
  return { begun: answer, delivery: { turn, activeCall: { lease, call }, firstTokenAt } };
}

interface Delivery {
  readonly turn: PreparedTurn;
  readonly activeCall: ActiveCall;
  /** When the first chunk arrived, by `performance.now()`. */
  readonly firstTokenAt: number;
}

/** How a delivery ended; undefined where the client left. */
type Ended = StreamCut | SettledTurn | undefined;

const cutOf = (ended: Ended): StreamCut | undefined =>
  ended !== undefined && 'failure' in ended ? ended : undefined;

/** Takes what is delivered; a promise means that its buffer is full. */
interface Sink {
  readonly part: (events: Buffer) => Promise<void> | undefined;
  /** The billed estimate, if the upstream did not report all of the usage. */
  readonly usage: (usage: TokenUsage) => Promise<void> | undefined;
}

async function deliver(
  { observer, first, rest }: Begun,
  { turn, activeCall: { lease, call }, firstTokenAt }: Delivery,
  dependencies: StreamDependencies,
  sink: Sink,
): Promise<Ended> {
  let ended: Ended = undefined;
  let isComplete = false;
  let estimated: TokenUsage | undefined;
  try {
    for (let part = first; part !== undefined; part = await rest.next()) {
      if (turn.signal.aborted) return undefined;
      const written = sink.part(part);
      if (written !== undefined) await written;
    }
    isComplete = true;
    void lease.settle('success');
  } catch (failure) {
    await settleFailure({ lease, call }, failure, turn.signal);
    if (turn.signal.aborted) return undefined;
    const { name } = lease.backend;
    dependencies.log.warn({ backend: name, error: failure }, 'a response stream was interrupted');
    ended = { failure };
  } finally {
    // Also runs when the client has disconnected: the streamed part is settled, and the lease gets an outcome. Earlier
    // reports stay valid.
    if (!isComplete) rest.leave();
    void lease.settle('left');
    const answered = { lease, call };
    const outcome = { observer, answered, firstTokenAt, isComplete };
    const settled = await settleStream(turn, dependencies, outcome);
    const { usage } = settled;
    estimated = usage === observer.usage ? undefined : usage;
    ended ??= settled;
  }
  if (isComplete && estimated !== undefined) await sink.usage(estimated);
  return ended;
}

const usagePart = ({ prompt_tokens, completion_tokens }: TokenUsage): AnswerPart => {
  const usage = { promptTokens: prompt_tokens, completionTokens: completion_tokens };
  return { events: [{ type: 'usage', usage }] };
};

const usageEvent = (head: ChunkHead, usage: TokenUsage): Buffer =>
  Buffer.from(`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`);

const headOf = (model: string, clock: Clock): ChunkHead => ({
  id: `chatcmpl-${newId()}`,
  object: 'chat.completion.chunk',
  created: Math.floor(clock.now() / 1000),
  model,
});
