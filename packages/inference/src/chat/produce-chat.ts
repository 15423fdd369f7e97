import { ServiceError, type TokenUsage } from '@model-gateway/contracts';
import type { Cancel } from '@model-gateway/kernel';
import type { ChosenBackend } from '@model-gateway/router';
import { attemptModels } from '../upstream/attempt-models.ts';
import type { FallbackModel } from '../upstream/fallback-model.ts';
import { settleFailure } from '../upstream/attempts.ts';
import { chooseSupporting } from '../upstream/choose-supporting.ts';
import type { ChatDependencies } from './chat-turn.ts';
import { cannotChat } from './complete-chat.ts';
import { readDeltas, type ChatDelta } from '../stream/read-deltas.ts';
import { routeRequestOf, type PreparedTurn } from './prepare-turn.ts';
import { settleStream, type SettledStream } from './settle-stream.ts';
import {
  createStreamObserver,
  streamOutcome,
  type StreamObserver,
} from '../stream/stream-observer.ts';
import { upstreamBody } from './upstream-body.ts';

/** The end of a complete response. */
export interface ChatEnd {
  readonly finishReason: string | null;
  readonly usage: TokenUsage;
  /** The upstream's name of the model. */
  readonly model: string;
  /** The id of the reply in its conversation. */
  readonly messageId: string | undefined;
}

interface Begun {
  readonly observer: StreamObserver;
  readonly first: IteratorResult<readonly ChatDelta[]>;
  readonly rest: AsyncGenerator<readonly ChatDelta[]>;
}

const NO_USAGE: TokenUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** The backend that was chosen for a turn. */
export interface AcceptedChat {
  readonly route: ChosenBackend;
  /** The model that it was chosen for: that of the request, or another one of it. */
  readonly chosen: FallbackModel;
  /** The other models that are tried when it fails. */
  readonly fallbacks: readonly FallbackModel[];
}

/**
 * Chooses the backend; rejects with an error for the caller if there is none for any of its models. Then the turn counts as
 * accepted and its messages are stored. An accepted turn must be produced.
 */
export async function acceptChat(
  turn: PreparedTurn,
  { router, requests, meter }: Pick<ChatDependencies, 'router' | 'requests' | 'meter'>,
): Promise<AcceptedChat> {
  const {
    model,
    signal: _signal,
    onAccepted: _onAccepted,
    ...options
  } = routeRequestOf(turn, { requests, meter });
  const choose = (chosen: FallbackModel): Promise<ChosenBackend> =>
    chooseSupporting(router, {
      model: chosen.model,
      options: { ...options, resolved: chosen.resolved },
      isAble: (backend) => backend.chatStream !== undefined,
      unsupported: ({ name }) => cannotChat(name),
    });
  const accepted = await chooseFirst(
    [{ model, resolved: turn.resolvedModel }, ...(turn.fallbacks ?? [])],
    choose,
  );
  requests.accepted();
  await turn.record?.begin();
  return accepted;
}

/** The first model with a backend; the last refusal is the error. */
async function chooseFirst(
  [chosen, ...fallbacks]: readonly [FallbackModel, ...FallbackModel[]],
  choose: (model: FallbackModel) => Promise<ChosenBackend>,
): Promise<AcceptedChat> {
  const [next, ...others] = fallbacks;
  try {
    return { route: await choose(chosen), chosen, fallbacks };
  } catch (error) {
    if (next === undefined || !(error instanceof ServiceError)) throw error;
    return chooseFirst([next, ...others], choose);
  }
}

/** Generates an accepted turn chunk by chunk. It is settled before the iteration ends, also if it fails or is abandoned. */
export async function* produceChat(
  turn: PreparedTurn,
  accepted: AcceptedChat,
  dependencies: ChatDependencies,
): AsyncGenerator<readonly ChatDelta[], ChatEnd> {
  const { full, signal } = turn;
  const { log } = dependencies;
  const ask = async ({ backend, model }: ChosenBackend, cancel: Cancel): Promise<Begun> => {
    if (backend.chatStream === undefined) throw cannotChat(backend.name);
    const stream = await backend.chatStream(upstreamBody(full, model), cancel);
    const observer = createStreamObserver({ keepsReply: true });
    const rest = readDeltas(stream, { observer, log });
    return { observer, rest, first: await rest.next() };
  };
  const query = { ...routeRequestOf(turn, dependencies), ...accepted.chosen };
  const { answer, route, call } = await attemptModels(
    dependencies,
    query,
    accepted.fallbacks,
    ask,
    accepted.route,
  );
  call.begun();
  route.begun?.();
  const firstTokenAt = performance.now();
  const { observer, first, rest } = answer;
  let settled: SettledStream | undefined;
  const settle = async (isComplete: boolean): Promise<SettledStream> =>
    (settled ??= await settleStream(turn, dependencies, {
      observer,
      route,
      firstTokenAt,
      isComplete,
    }));
  try {
    if (first.done !== true) yield first.value;
    for await (const deltas of rest) yield deltas;
    void route.settle('success');
    const { usage = NO_USAGE, messageId } = await settle(true);
    call.end(() => streamOutcome(observer, usage));
    const { finishReason = null, model = route.model } = observer;
    return { finishReason, usage, model, messageId };
  } catch (failure) {
    await settleFailure({ route, call }, failure, signal);
    throw failure;
  } finally {
    // Earlier reports to the breaker and records stay valid.
    void route.settle('left');
    await settle(false);
    call.leave();
  }
}
