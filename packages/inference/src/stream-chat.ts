import type { RestErrorBody } from '@model-gateway/contracts';
import { describeError, newId, type Clock } from '@model-gateway/kernel';
import { attempt, settleFailure, type Asked } from './attempts.ts';
import type { ChatDependencies } from './chat-turn.ts';
import { cannotChat } from './complete-chat.ts';
import type { ChunkHead } from './event-reader.ts';
import { wantedBy, type ReadyTurn } from './ready-turn.ts';
import { relay } from './relay.ts';
import { settleStream } from './settle-stream.ts';
import { createStreamObserver, outcomeOf, type StreamObserver } from './stream-observer.ts';
import { upstreamBody } from './upstream-body.ts';

/** A turn that is answered as it is generated. */
export interface StreamedChat {
  /** The name of the backend that serves the turn. */
  readonly backend: string;
  /** Server-sent events up to and with the end mark. The turn is metered before the last of them is yielded. */
  readonly events: AsyncIterable<Buffer>;
}

interface StreamDependencies extends ChatDependencies {
  readonly clock: Clock;
}

interface Begun {
  readonly observer: StreamObserver;
  readonly first: IteratorResult<Buffer>;
  readonly rest: AsyncGenerator<Buffer>;
}

const DONE = Buffer.from('data: [DONE]\n\n');

/** Begins a turn: resolves when there is something to show, so that what fails before that can go to another backend. */
export async function streamChat(
  turn: ReadyTurn,
  dependencies: StreamDependencies,
): Promise<StreamedChat> {
  const { full, signal } = turn;
  const { requests, clock, log } = dependencies;
  const passesUsage = asksForUsage(full['stream_options']);
  const keepsReply = turn.record !== undefined || turn.memory !== 'disabled';
  const parsesAll = keepsReply && full['n'] !== undefined;
  const wanted = wantedBy(turn, requests);
  const { answer, ...asked } = await attempt(
    dependencies,
    wanted,
    async ({ backend, model }): Promise<Begun> => {
      if (backend.chatStream === undefined) throw cannotChat(backend.name);
      const stream = await backend.chatStream(upstreamBody(full, model), signal);
      const observer = createStreamObserver({ keepsReply });
      const head = headOf(model, clock);
      const rest = relay(stream, { observer, passesUsage, head, parsesAll, log });
      return { observer, rest, first: await rest.next() };
    },
  );
  asked.call.begun();
  return { backend: asked.route.backend.name, events: deliver(answer, turn, asked, dependencies) };
}

async function* deliver(
  { observer, first, rest }: Begun,
  turn: ReadyTurn,
  { route, call }: Asked,
  dependencies: StreamDependencies,
): AsyncGenerator<Buffer> {
  let isComplete = false;
  try {
    if (first.done !== true) yield first.value;
    for await (const part of rest) yield part;
    isComplete = true;
    void route.settle('success');
  } catch (failure) {
    await settleFailure({ route, call }, failure, turn.signal);
    if (turn.signal.aborted) return;
    const { name } = route.backend;
    dependencies.log.warn({ backend: name, error: failure }, 'an answer broke off in mid-stream');
    yield errorEvent(failure);
  } finally {
    // Also reached when the client is gone and nobody asks for more: what was streamed is settled all the same, and the
    // backend is not kept waiting for an outcome. What was said of it before stands.
    void route.settle('neutral');
    const outcome = { observer, model: route.model, isComplete };
    const { usage } = await settleStream(turn, dependencies, outcome);
    if (isComplete) call.end(outcomeOf(observer, usage));
    else call.leave();
  }
  yield DONE;
}

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
