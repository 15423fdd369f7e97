import type { RestErrorBody, TokenUsage } from '@model-gateway/contracts';
import { describeError, newId, type Clock } from '@model-gateway/kernel';
import { attempt, settleFailure, type ActiveCall } from '../upstream/attempts.ts';
import type { ChatDependencies } from './chat-turn.ts';
import { cannotChat } from './complete-chat.ts';
import type { ChunkHead } from '../stream/event-reader.ts';
import { routeRequestOf, type PreparedTurn } from './prepare-turn.ts';
import { relay, type Relay } from '../stream/relay.ts';
import { settleStream } from './settle-stream.ts';
import { createStreamObserver, outcomeOf, type StreamObserver } from '../stream/stream-observer.ts';
import { upstreamBody } from './upstream-body.ts';

/** A turn that is answered as it is generated. */
export interface StreamedChat {
  /** The name of the backend that serves the turn. */
  readonly backend: string;
  /**
   * Hands over the server-sent events without the end mark, which belongs behind them: when this resolves, the turn has been
   * metered. Waits where the taker answers with a promise. Call it once, also when the client is gone.
   */
  deliver(take: WriteChunk): Promise<void>;
}

/** Takes some events; a promise where it has enough for now. */
export type WriteChunk = (events: Buffer) => Promise<void> | undefined;

interface StreamDependencies extends ChatDependencies {
  readonly clock: Clock;
}

interface Begun {
  readonly observer: StreamObserver;
  /** What a chunk of our own says. */
  readonly head: ChunkHead;
  readonly first: Buffer | undefined;
  readonly rest: Relay;
}

/** Begins a turn: resolves when there is something to show, so that what fails before that can go to another backend. */
export async function streamChat(
  turn: PreparedTurn,
  dependencies: StreamDependencies,
): Promise<StreamedChat> {
  const { full, signal } = turn;
  const { requests, clock, log } = dependencies;
  const passesUsage = asksForUsage(full['stream_options']);
  const keepsReply = turn.record !== undefined || turn.memory !== 'disabled';
  const parsesAll = keepsReply && full['n'] !== undefined;
  const query = routeRequestOf(turn, requests);
  const { answer, route, call } = await attempt(
    dependencies,
    query,
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
  const activeCall = { route, call };
  return {
    backend: route.backend.name,
    deliver: (take) => deliver(answer, { turn, activeCall, passesUsage, take }, dependencies),
  };
}

interface Delivery {
  readonly turn: PreparedTurn;
  readonly activeCall: ActiveCall;
  readonly passesUsage: boolean;
  readonly take: WriteChunk;
}

async function deliver(
  { observer, head, first, rest }: Begun,
  { turn, activeCall: { route, call }, passesUsage, take }: Delivery,
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
    dependencies.log.warn({ backend: name, error: failure }, 'an answer broke off in mid-stream');
    await take(errorEvent(failure));
  } finally {
    // Also reached when the client is gone: what was streamed is settled all the same, and the backend is not kept waiting for
    // an outcome. What was said of it before stands.
    if (!isComplete) rest.leave();
    void route.settle('neutral');
    const outcome = { observer, model: route.model, isComplete };
    const { usage } = await settleStream(turn, dependencies, outcome);
    estimated = observer.usage === undefined ? usage : undefined;
    if (isComplete) call.end(() => outcomeOf(observer, usage));
    else call.leave();
  }
  // A client that asked for the usage is told what it is billed, where the upstream did not say.
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
