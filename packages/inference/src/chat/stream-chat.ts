import type { RestErrorBody, TokenUsage } from '@model-gateway/contracts';
import { describeError, newId, type Clock } from '@model-gateway/kernel';
import { attemptModels } from '../upstream/attempt-models.ts';
import { settleFailure, type ActiveCall } from '../upstream/attempts.ts';
import type { ChatDependencies } from './chat-turn.ts';
import { cannotChat } from './complete-chat.ts';
import type { ChunkHead } from '../stream/event-reader.ts';
import { routeRequestOf, type PreparedTurn } from './prepare-turn.ts';
import { relay, type Relay } from '../stream/relay.ts';
import { settleStream } from './settle-stream.ts';
import { createStreamObserver, outcomeOf, type StreamObserver } from '../stream/stream-observer.ts';
import { upstreamBody } from './upstream-body.ts';

/** A turn that is streamed while it is generated. */
export interface StreamedChat {
  /** The name of the backend that serves the turn. */
  readonly backend: string;
  /**
   * Writes the server-sent events without the end mark, which the caller adds. When this resolves, the turn is metered.
   * Awaits the promise of the writer, if any. Call it once, also when the client has disconnected.
   */
  deliver(take: WriteChunk): Promise<void>;
}

/** Writes some events; returns a promise while its buffer is full. */
export type WriteChunk = (events: Buffer) => Promise<void> | undefined;

interface StreamDependencies extends ChatDependencies {
  readonly clock: Clock;
}

interface Begun {
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
): Promise<StreamedChat> {
  const { full, fallbacks = [], signal } = turn;
  const { clock, log } = dependencies;
  const passesUsage = asksForUsage(full['stream_options']);
  const keepsReply = turn.record !== undefined || turn.memory !== 'disabled';
  const parsesAll = keepsReply && full['n'] !== undefined;
  const query = routeRequestOf(turn, dependencies);
  const { answer, route, call } = await attemptModels(
    dependencies,
    query,
    fallbacks,
    async ({ backend, model }): Promise<Begun> => {
      if (backend.chatStream === undefined) throw cannotChat(backend.name);
      const stream = await backend.chatStream(upstreamBody(full, model), signal);
      const observer = createStreamObserver({ keepsReply });
      const head = headOf(model, clock);
      const rest = relay(stream, { observer, passesUsage, head, parsesAll, log });
      return { observer, head, rest, first: await rest.next() };
    },
  );
  call.begun();
  const delivery = {
    turn,
    activeCall: { route, call },
    firstTokenAt: performance.now(),
    passesUsage,
  };
  return {
    backend: route.backend.name,
    deliver: (take) => deliver(answer, { ...delivery, take }, dependencies),
  };
}

interface Delivery {
  readonly turn: PreparedTurn;
  readonly activeCall: ActiveCall;
  /** When the first chunk arrived, by `performance.now()`. */
  readonly firstTokenAt: number;
  readonly passesUsage: boolean;
  readonly take: WriteChunk;
}

async function deliver(
  { observer, head, first, rest }: Begun,
  { turn, activeCall: { route, call }, firstTokenAt, passesUsage, take }: Delivery,
  dependencies: StreamDependencies,
): Promise<void> {
  let isComplete = false;
  let estimated: TokenUsage | undefined;
  try {
    for (let part = first; part !== undefined; part = await rest.next()) {
      if (turn.signal.aborted) return;
      const written = take(part);
      if (written !== undefined) await written;
    }
    isComplete = true;
    void route.settle('success');
  } catch (failure) {
    await settleFailure({ route, call }, failure, turn.signal);
    if (turn.signal.aborted) return;
    const { name } = route.backend;
    dependencies.log.warn({ backend: name, error: failure }, 'a response stream was interrupted');
    await take(errorEvent(failure));
  } finally {
    // Also runs when the client has disconnected: the streamed part is settled, and the route gets an outcome. Earlier
    // reports stay valid.
    if (!isComplete) rest.leave();
    void route.settle('neutral');
    const outcome = { observer, route, firstTokenAt, isComplete };
    const { usage } = await settleStream(turn, dependencies, outcome);
    estimated = usage === observer.usage ? undefined : usage;
    if (isComplete) call.end(() => outcomeOf(observer, usage));
    else call.leave();
  }
  // A client that requested the usage gets the billed estimate if the upstream did not report all of it.
  if (isComplete && passesUsage && estimated !== undefined) await take(usageEvent(head, estimated));
}

const usageEvent = (head: ChunkHead, usage: TokenUsage): Buffer =>
  Buffer.from(`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`);

const headOf = (model: string, clock: Clock): ChunkHead => ({
  id: `chatcmpl-${newId()}`,
  object: 'chat.completion.chunk',
  created: Math.floor(clock.now() / 1000),
  model,
});

function errorEvent(failure: unknown): Buffer {
  const error = {
    message: describeError(failure),
    type: 'server_error',
    code: 'bad_gateway',
    param: null,
  };
  return Buffer.from(`data: ${JSON.stringify({ error } satisfies RestErrorBody)}\n\n`);
}

function asksForUsage(options: unknown): boolean {
  return (
    typeof options === 'object' &&
    options !== null &&
    Reflect.get(options, 'include_usage') === true
  );
}
