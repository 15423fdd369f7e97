import type { AnswerPart, TokenUsage } from '@model-gateway/contracts';
import { asksForUsage, type ChunkHead } from '@model-gateway/dialects';
import { newId, type Clock } from '@model-gateway/kernel';
import type { HeldAnswer } from '../call/held-answer.ts';
import { settleFailure, type ActiveAttempt } from '../upstream/attempts.ts';
import type { ChatTurn, TurnServices } from './chat-turn.ts';
import { cannotChat } from './complete-chat.ts';
import type { OnSign } from '../stream/event-reader.ts';
import { readStream, type Portion, type StreamReader } from '../stream/read-stream.ts';
import { settleStream, type SettledTurn } from './settle-turn.ts';
import { createStreamObserver, type StreamObserver } from '../stream/stream-observer.ts';

/** Why an answer is not whole. */
export interface StreamCut {
  readonly failure: unknown;
}

/** A turn that is streamed while it is generated. */
interface StreamedTurn {
  /** The name of the backend that serves the turn. */
  readonly backend: string;
  /** Fields of the request that this backend could not be sent. */
  readonly ignored: readonly string[] | undefined;
  /** The model as that backend lists it. */
  readonly model: string;
  readonly head: ChunkHead;
  /** The first part, which is delivered too; undefined if there is none, or where events are delivered. */
  readonly first: AnswerPart | undefined;
  /**
   * Writes the answer, with the billed usage if the upstream did not report all of it, or without the end whose failure it
   * resolves to. Then the turn is metered. Awaits the promise of the writer, if any. Call it once, also when the client has
   * disconnected; then it resolves to undefined.
   */
  deliver(take: TakePortion): Promise<StreamCut | TurnEnd | undefined>;
}

/** Writes a portion; returns a promise while its buffer is full. */
export type TakePortion = (portion: Portion) => Promise<void> | undefined;

/** The end of a complete answer. */
export interface TurnEnd {
  readonly finishReason: string | null;
  readonly usage: TokenUsage;
  /** The upstream's name of the model. */
  readonly model: string;
  /** The id of the reply in its conversation. */
  readonly messageId: string | undefined;
}

interface Begun {
  readonly ignored: readonly string[] | undefined;
  readonly observer: StreamObserver;
  /** The fields of the gateway's own chunks. */
  readonly head: ChunkHead;
  readonly first: Portion | undefined;
  readonly rest: StreamReader;
}

interface StreamOptions {
  /** Whether events of chat completions are delivered as they are, because the client speaks that API. */
  readonly passesEvents: boolean;
  /** Takes comments of an upstream of that API. */
  readonly onSign?: OnSign;
  /** Called once, when the first backend that can stream is asked; with what the hooks store of the turn. */
  readonly onAccepted?: (stored: Promise<unknown>) => void;
}

/** Begins a turn: resolves with the first content, so that an earlier failure can be retried on another backend. */
export async function streamTurn(
  turn: ChatTurn,
  services: TurnServices,
  options: StreamOptions,
): Promise<StreamedTurn> {
  const { begun, delivery } = await begin(turn, services, options);
  const { head, ignored, first, observer } = begun;
  const { lease } = delivery.active;
  return {
    backend: lease.backend.name,
    ignored,
    model: lease.model,
    // As in a whole answer: what the upstream calls it.
    head: observer.model === undefined ? head : { ...head, model: observer.model },
    first: Buffer.isBuffer(first) ? undefined : first?.[0],
    async deliver(take) {
      const ended = await deliver(begun, delivery, services, take);
      if (ended === undefined || 'failure' in ended) return ended;
      const { finishReason = null, model = lease.model } = begun.observer;
      const { usage = NO_USAGE, messageId } = ended;
      return { finishReason, usage, model, messageId };
    },
  };
}

const NO_USAGE: TokenUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

async function begin(turn: ChatTurn, services: TurnServices, options: StreamOptions) {
  const { onSign } = options;
  const { full, keepsReply } = turn;
  const held = turn.held();
  const passesEvents = options.passesEvents && held === undefined;
  const passesUsage = !passesEvents || asksForUsage(full);
  const { clock, log } = services;
  const { n } = full;
  const parsesAll = n !== undefined && (!passesEvents || keepsReply || n !== 1);
  let { onAccepted } = options;
  const { answer, lease, tracked } = await turn.call.attempt(
    turn.wanted(services),
    async ({ backend, model }, signal, onFirstByte): Promise<Begun> => {
      if (backend.chatStream === undefined) throw cannotChat(backend.name);
      const stored = turn.asked();
      onAccepted?.(stored);
      onAccepted = undefined;
      const watch = { onFirstByte, onEnd: turn.call.onEnd };
      const stream = await backend.chatStream(turn.upstream({ backend, model }), signal, watch);
      const observer = createStreamObserver({ keepsReply });
      const head = headOf(model, clock);
      const reading = { passesEvents, passesUsage, parsesAll, log, onSign };
      const rest = readStream(stream, { ...reading, observer, head });
      return { ignored: stream.ignored, observer, head, rest, first: await rest.next() };
    },
  );
  tracked.begun();
  lease.begun();
  const firstTokenAt = performance.now();
  return { begun: answer, delivery: { turn, held, active: { lease, tracked }, firstTokenAt } };
}

interface Delivery {
  readonly turn: ChatTurn;
  readonly held: HeldAnswer | undefined;
  readonly active: ActiveAttempt;
  /** When the first chunk arrived, by `performance.now()`. */
  readonly firstTokenAt: number;
}

/** How a delivery ended; undefined where the client left. */
type Ended = StreamCut | SettledTurn | undefined;

async function deliver(
  { observer, first, rest }: Begun,
  { turn, held, active: { lease, tracked }, firstTokenAt }: Delivery,
  { log }: TurnServices,
  take: TakePortion,
): Promise<Ended> {
  let ended: Ended = undefined;
  let isComplete = false;
  let estimated: TokenUsage | undefined;
  try {
    for (let portion = first; portion !== undefined; portion = await rest.next()) {
      if (turn.call.signal.aborted) return undefined;
      const free =
        held === undefined || Buffer.isBuffer(portion) ? portion : await held.next(portion);
      const written = free.length === 0 ? undefined : take(free);
      if (written !== undefined) await written;
    }
    if (held !== undefined) await take(await held.next([], true));
    isComplete = true;
    void lease.settle('success');
  } catch (failure) {
    ended = { failure };
    if (held?.isRefused === true) return ended;
    await settleFailure({ lease, tracked }, failure, turn.call.signal);
    if (turn.call.signal.aborted) return undefined;
    const { name } = lease.backend;
    log.warn({ backend: name, error: failure }, 'a response stream was interrupted');
  } finally {
    // Also runs when the client has disconnected: the streamed part is settled, and the lease gets an outcome. Earlier
    // reports stay valid.
    if (!isComplete) rest.leave();
    void lease.settle('left');
    const answered = { lease, tracked };
    const isRefused = held?.isRefused === true;
    const outcome = { observer, answered, firstTokenAt, isComplete, isRefused };
    const settled = await settleStream(turn, outcome);
    const { usage } = settled;
    estimated = usage === observer.usage ? undefined : usage;
    ended ??= settled;
  }
  if (isComplete && estimated !== undefined) await take([usagePart(estimated)]);
  return ended;
}

const usagePart = ({ prompt_tokens, completion_tokens }: TokenUsage): AnswerPart => {
  const usage = { promptTokens: prompt_tokens, completionTokens: completion_tokens };
  return { events: [{ type: 'usage', usage }] };
};

const headOf = (model: string, clock: Clock): ChunkHead => ({
  id: `chatcmpl-${newId()}`,
  object: 'chat.completion.chunk',
  created: Math.floor(clock.now() / 1000),
  model,
});
