import type { ConversationStore, SignIn, SignInEnd } from '@model-gateway/accounts';
import { isSessionId, ServiceError } from '@model-gateway/contracts';
import { EXPECTED_NOTHING } from '@model-gateway/inference';
import {
  describeError,
  withTimeout,
  type Entries,
  type Metrics,
  type Requests,
} from '@model-gateway/kernel';
import type { RealtimeEvent } from '@model-gateway/router';
import { createSignedInSockets } from '../transports/signed-in-sockets.ts';
import { endEvent } from './last-event.ts';
import type { LiveSession } from './live-session.ts';
import {
  admitSession,
  notificationText,
  openSession,
  type OpenedSession,
  type OpenSessionDependencies,
  type RealtimeStartRequest,
} from './open-session.ts';
import { createSessionSlots } from './session-slots.ts';
import { createSessionOwners } from './session-owners.ts';
import { createSessionRelay, type SessionOutcome, type SessionRequest } from './session-relay.ts';
import { createUndo, type Undo } from './undo.ts';

/** An event that a client sends in a session. */
export type ClientEvent = RealtimeEvent & { readonly type: string };

/** The realtime sessions of all replicas; each belongs to the process that opened it. */
export interface RealtimeSessions {
  start(
    request: Omit<RealtimeStartRequest, 'resolvedModel'>,
    signIn: SignIn,
  ): Promise<Pick<OpenedSession, 'sessionId' | 'streamId'>>;
  /** Queues an event for the upstream, on whichever process the session is. */
  send(userId: string, sessionId: string, event: ClientEvent): Promise<void>;
  /** False when the user has no such session. */
  stop(userId: string, sessionId: string): Promise<boolean>;
  /** Ends the sessions of this process that a sign-in or a user has started, also those that are being opened. */
  endSignedOut(end: SignInEnd): void;
  /** The last notification of a session whose process has ended before it; undefined for others. Never rejects. */
  endOfLost(streamId: string): Promise<string | undefined>;
  /** Ends the sessions of this process; no new ones are opened. */
  close(): Promise<void>;
}

interface RealtimeSessionsDependencies extends OpenSessionDependencies {
  readonly conversations: Pick<ConversationStore, 'ownerOf' | 'addTurn'>;
  readonly requests: Requests;
  readonly entries: Pick<Entries, 'put' | 'get' | 'remove'>;
  readonly metrics: Metrics;
}

/** A session from its request to its end. */
interface StartedSession {
  /** Undefined until it is open at its upstream. */
  session?: LiveSession;
  isSignedOut: boolean;
}

const CLOSING_TIMEOUT_MS = 5_000;

export function createRealtimeSessions(
  dependencies: RealtimeSessionsDependencies,
): RealtimeSessions {
  const { runtime, conversations, log } = dependencies;
  const relay = createSessionRelay(dependencies.requests);
  const owners = createSessionOwners(dependencies);
  const slots = createSessionSlots();
  const local = new Map<string, { readonly userId: string; readonly session: LiveSession }>();
  const starts = createSignedInSockets<StartedSession>();
  const ending = new Set<Promise<unknown>>();
  let isClosed = false;
  dependencies.metrics.gauge({
    name: 'service_realtime_sessions',
    help: 'Open realtime sessions of this process.',
    collect: (gauge) => gauge.set(local.size),
  });

  /** A session is a call for as long as it lasts. */
  async function admit(request: RealtimeStartRequest, undo: Undo): Promise<void> {
    const { userId, conversationId } = request;
    if (conversationId !== undefined) {
      const owner = await conversations.ownerOf(conversationId);
      if (owner?.userId !== userId)
        throw new ServiceError('conversation_not_found', 'conversation not found');
      await runtime.storageLimit.assertRoom(userId, owner.storedBytes);
    }
    const reservation = await admitSession(request, runtime, EXPECTED_NOTHING);
    undo.add(() => reservation.end());
  }

  /** Runs in the background; `close` waits for it. */
  function track(work: Promise<unknown>): void {
    const tracked = work
      .catch((error: unknown) =>
        log.error({ reason: describeError(error) }, 'a realtime session did not end cleanly'),
      )
      .finally(() => ending.delete(tracked));
    ending.add(tracked);
  }

  function handleLocally(sessionId: string, request: SessionRequest): SessionOutcome {
    const found = local.get(sessionId);
    if (request.kind === 'check') return found === undefined ? 'not_found' : 'done';
    if (found === undefined || found.userId !== request.userId) return 'not_found';
    if (request.kind === 'event' && request.event.type !== 'session.stop') {
      return found.session.send(request.event) ? 'done' : 'congested';
    }
    found.session.end('stopped by the client');
    return 'done';
  }

  async function deliver(sessionId: string, message: SessionRequest): Promise<SessionOutcome> {
    if (!isSessionId(sessionId)) return 'not_found';
    return local.has(sessionId)
      ? handleLocally(sessionId, message)
      : relay.forward(sessionId, message);
  }

  /** Makes a session reachable from all replicas, until it ends. */
  async function announce(opened: OpenedSession, userId: string, undo: Undo): Promise<void> {
    const { sessionId, streamId, session } = opened;
    local.set(sessionId, { userId, session });
    undo.add(() => local.delete(sessionId));
    const served = await relay.serve(sessionId, (request) => handleLocally(sessionId, request));
    undo.add(() => served.close());
    await owners.add(streamId, { sessionId, userId });
    undo.add(() => owners.remove(streamId));
  }

  return {
    async start(requested, signIn) {
      if (isClosed) throw stopping();
      const resolvedModel = runtime.router.aliases.resolve(requested.model);
      const request = { ...requested, resolvedModel };
      const undo = createUndo();
      undo.add(slots.take(request.userId));
      const started: StartedSession = { isSignedOut: false };
      starts.add(started, signIn);
      undo.add(() => starts.remove(started, signIn));
      let opened: OpenedSession | undefined;
      try {
        await admit(request, undo);
        opened = await openSession(request, dependencies, (session, reason) => {
          log.info({ reason }, 'a realtime session ended');
          track(Promise.all([undo.run(), session.settled()]));
        });
        started.session = opened.session;
        await announce(opened, request.userId, undo);
        if (isClosed) throw stopping();
        if (started.isSignedOut) throw signedOut();
        opened.begin();
        return { sessionId: opened.sessionId, streamId: opened.streamId };
      } catch (error) {
        opened?.session.end('opening failed');
        track(undo.run());
        throw error;
      }
    },
    async send(userId, sessionId, event) {
      const outcome = await deliver(sessionId, { kind: 'event', userId, event });
      if (outcome !== 'done') throw refusal(outcome);
    },
    async stop(userId, sessionId) {
      // A session that does not reply may be ending; in any case this call did not remove it.
      return (await deliver(sessionId, { kind: 'stop', userId })) === 'done';
    },
    endSignedOut(end) {
      for (const started of starts.of(end)) {
        started.isSignedOut = true;
        started.session?.end('the sign-in that started it has ended', 'signed_out');
      }
    },
    async endOfLost(streamId) {
      const sessionId = await owners.sessionOf(streamId);
      if (sessionId === undefined || local.has(sessionId)) return undefined;
      if (!(await relay.isLost(sessionId))) return undefined;
      return notificationText(sessionId, endEvent('process_gone'));
    },
    async close() {
      isClosed = true;
      for (const { session } of local.values()) {
        session.skipListenerWait();
        session.end('the service is stopping', 'stopping');
      }
      await withTimeout(Promise.all(ending), CLOSING_TIMEOUT_MS, () => undefined);
      owners.close();
    },
  };
}

function refusal(outcome: Exclude<SessionOutcome, 'done'>): ServiceError {
  switch (outcome) {
    case 'congested':
      return new ServiceError('rate_limit_exceeded', 'session is congested');
    case 'not_found':
      return new ServiceError('not_found', 'session not found');
    case 'no_reply':
      return new ServiceError('bad_gateway', 'the session does not respond');
  }
}

const stopping = (): ServiceError => new ServiceError('bad_gateway', 'the service is stopping');

const signedOut = (): ServiceError =>
  new ServiceError('authentication_required', 'authentication required');
