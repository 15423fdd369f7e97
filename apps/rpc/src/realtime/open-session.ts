import type { ConversationStore } from '@model-gateway/accounts';
import {
  admit,
  callOfUser,
  openRealtime,
  type ExpectedUsage,
  type Reservation,
} from '@model-gateway/inference';
import { randomToken, type Log } from '@model-gateway/kernel';
import { UpstreamFailure, type RealtimeEvent } from '@model-gateway/router';
import type { ServiceRuntime } from '@model-gateway/service';
import type { Sessions } from '../sessions/sessions.ts';
import { createForwarder } from './forwarder.ts';
import { createResponseReservations } from './response-reservations.ts';
import { createLiveSession, type LiveSession } from './live-session.ts';
import { createSessionRecorder } from './session-recorder.ts';

/** The request to open a realtime session. */
export interface RealtimeStartRequest {
  readonly userId: string;
  readonly model: string;
  /** What its alias stands for, for as long as the session lasts. */
  readonly resolvedModel: string;
  readonly config: RealtimeEvent | undefined;
  readonly conversationId: string | undefined;
  readonly refId: string | null;
}

/** An open session and its ids. */
export interface OpenedSession {
  readonly sessionId: string;
  /** Where its notifications arrive. */
  readonly streamId: string;
  readonly session: LiveSession;
  /** Call it with the response: a client that subscribes soon after it misses no event. */
  begin(): void;
}

export interface OpenSessionDependencies {
  readonly runtime: Pick<
    ServiceRuntime,
    'router' | 'telemetry' | 'quotas' | 'meter' | 'requests' | 'storageLimit'
  >;
  readonly conversations: Pick<ConversationStore, 'addTurn'>;
  readonly sessions: Pick<Sessions, 'push' | 'awaitListener'>;
  readonly log: Log;
}

/** On a busy machine it takes seconds to open a connection. */
const LISTENER_WAIT_MS = 10_000;

/** Opens a session at its upstream. `onEnded` is called when it ends, also when it never opened. */
export async function openSession(
  request: RealtimeStartRequest,
  { runtime, conversations, sessions, log }: OpenSessionDependencies,
  onEnded: (session: LiveSession, reason: string) => void,
): Promise<OpenedSession> {
  const { userId, model, resolvedModel, config, conversationId, refId } = request;
  const sessionId = randomToken();
  const streamId = randomToken();
  const forwarder = createForwarder((message) => sessions.push(streamId, message));
  const session: LiveSession = createLiveSession({
    refId,
    config,
    forwarder,
    notificationOf: (event) => notificationText(sessionId, event),
    reservations: createResponseReservations((expected) =>
      admitSession(request, runtime, expected),
    ),
    onEnded: (reason) => onEnded(session, reason),
  });
  try {
    const opening = { model, config, ...session.listener };
    const upstream = await openRealtime(opening, resolvedModel, runtime);
    const recorder = createSessionRecorder({
      userId,
      model,
      lease: upstream.lease,
      refId,
      conversationId,
      meter: runtime.meter,
      conversations,
      log,
    });
    if (!session.attach(upstream, recorder)) throw endedImmediately();
  } catch (error) {
    session.end('opening failed');
    throw error;
  }
  return {
    sessionId,
    streamId,
    session,
    begin: () => forwarder.begin(sessions.awaitListener(streamId, LISTENER_WAIT_MS)),
  };
}

/** Admits a session, or one of its responses, which is expected to use so much. */
export async function admitSession(
  { userId, model, resolvedModel, refId }: RealtimeStartRequest,
  services: OpenSessionDependencies['runtime'],
  expected: ExpectedUsage,
): Promise<Reservation> {
  const context = callOfUser({ userId, surface: 'realtime', refId }, services.quotas);
  const asked = { read: async () => ({ model }), resolvedModel, expected: () => expected };
  return (await admit(context, asked, services)).reservation;
}

/** The text of the event is not changed. */
export const notificationText = (sessionId: string, event: string): string =>
  `{"jsonrpc":"2.0","method":"realtime.event","params":{"session_id":"${sessionId}","event":${event}}}`;

const endedImmediately = (): UpstreamFailure =>
  new UpstreamFailure('the upstream ended the session immediately', { isBackendAtFault: true });
