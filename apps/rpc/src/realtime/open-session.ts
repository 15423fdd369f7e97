import type { ConversationStore } from '@model-gateway/accounts';
import { openRealtime } from '@model-gateway/inference';
import { randomToken, type Log } from '@model-gateway/kernel';
import { UpstreamFailure, type RealtimeEvent } from '@model-gateway/router';
import type { InferenceRuntime } from '@model-gateway/inference-runtime';
import type { Sessions } from '../sessions/sessions.ts';
import { createForwarder } from './forwarder.ts';
import { createLiveSession, type LiveSession } from './live-session.ts';
import { createSessionBooks } from './session-books.ts';

/** A realtime session that a user wants. */
export interface WantedSession {
  readonly userId: string;
  readonly model: string;
  readonly config: RealtimeEvent | undefined;
  readonly conversationId: string | undefined;
  readonly refId: string | null;
}

/** A session that is open, under the names by which it is known. */
export interface OpenedSession {
  readonly sessionId: string;
  /** Where its notifications arrive. */
  readonly streamId: string;
  readonly session: LiveSession;
  /** To be called with the answer: whoever listens soon after it misses nothing. */
  begin(): void;
}

export interface OpenSessionDependencies {
  readonly runtime: Pick<InferenceRuntime, 'router' | 'watch' | 'quotas' | 'meter' | 'requests'>;
  readonly conversations: Pick<ConversationStore, 'addTurn'>;
  readonly sessions: Pick<Sessions, 'push' | 'awaitListener'>;
  readonly log: Log;
}

const LISTENER_GRACE_MS = 250;

/** Opens a session at its upstream. `onEnded` is told when it is over, whether or not it ever came to be. */
export async function openSession(
  wanted: WantedSession,
  { runtime, conversations, sessions, log }: OpenSessionDependencies,
  onEnded: (session: LiveSession, reason: string) => void,
): Promise<OpenedSession> {
  const { userId, model, config, conversationId, refId } = wanted;
  const sessionId = randomToken();
  const streamId = randomToken();
  const forwarder = createForwarder((message) => sessions.push(streamId, message));
  const session: LiveSession = createLiveSession({
    refId,
    forwarder,
    notificationOf: (event) => notificationText(sessionId, event),
    assertCovered: () =>
      runtime.quotas.assertUserCovered(userId, runtime.router.aliases.resolve(model)),
    onEnded: (reason) => onEnded(session, reason),
  });
  try {
    const upstream = await openRealtime({ model, config, ...session.listener }, runtime);
    const books = createSessionBooks({
      userId,
      model: upstream.route.model,
      refId,
      conversationId,
      meter: runtime.meter,
      conversations,
      log,
    });
    if (!session.attach(upstream, books)) throw endedAtOnce();
  } catch (error) {
    session.end('it could not be opened');
    throw error;
  }
  return {
    sessionId,
    streamId,
    session,
    begin: () => forwarder.begin(sessions.awaitListener(streamId, LISTENER_GRACE_MS)),
  };
}

/** The event stays as the upstream wrote it. */
const notificationText = (sessionId: string, event: string): string =>
  `{"jsonrpc":"2.0","method":"realtime.event","params":{"session_id":"${sessionId}","event":${event}}}`;

const endedAtOnce = (): UpstreamFailure =>
  new UpstreamFailure('the upstream ended the session at once', { isBackendAtFault: true });
