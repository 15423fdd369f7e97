import { ServiceError } from '@model-gateway/contracts';
import type { Lease } from '@model-gateway/router';
import { chooseSupporting } from '../upstream/choose-supporting.ts';
import type { FallbackModel } from '../upstream/fallback-model.ts';
import type { ChatDependencies } from './chat-turn.ts';
import { cannotChat } from './complete-chat.ts';
import { routeRequestOf, type PreparedTurn } from './prepare-turn.ts';

/** The backend that was chosen for a turn. */
export interface AcceptedChat {
  readonly lease: Lease;
  /** The model that it was chosen for: that of the request, or another one of it. */
  readonly chosen: FallbackModel;
  /** The other models that are tried when it fails. */
  readonly fallbacks: readonly FallbackModel[];
}

/**
 * Chooses the backend; rejects with an error for the caller if there is none for any of its models. Then the turn counts as
 * accepted and its messages are stored. An accepted turn must be served, by `streamTurn`.
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
  const choose = (chosen: FallbackModel): Promise<Lease> =>
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
  choose: (model: FallbackModel) => Promise<Lease>,
): Promise<AcceptedChat> {
  const [next, ...others] = fallbacks;
  try {
    return { lease: await choose(chosen), chosen, fallbacks };
  } catch (error) {
    if (next === undefined || !(error instanceof ServiceError)) throw error;
    return chooseFirst([next, ...others], choose);
  }
}
