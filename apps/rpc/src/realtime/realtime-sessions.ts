import type { ConversationStore } from '@model-gateway/accounts';
import { isSessionId, ServiceError } from '@model-gateway/contracts';
import {
  describeError,
  withTimeout,
  type Entries,
  type Metrics,
  type Requests,
} from '@model-gateway/kernel';
import type { RealtimeEvent } from '@model-gateway/router';
import type { LiveSession } from './live-session.ts';
import {
  openSession,
  type OpenedSession,
  type OpenSessionDependencies,
  type WantedSession,
} from './open-session.ts';
import { createSeats } from './seats.ts';
import { createSessionOwners } from './session-owners.ts';
import { createSessionRelay, type SessionOutcome, type SessionRequest } from './session-relay.ts';
import { createUndo, type Undo } from './undo.ts';

/** What a client says in a session. */
export type ClientEvent = RealtimeEvent & { readonly type: string };

/** The realtime sessions of all replicas; each is held by the process that opened it. */
export interface RealtimeSessions {
  start(wanted: WantedSession): Promise<Pick<OpenedSession, 'sessionId' | 'streamId'>>;
  /** Queues an event for the upstream, wherever the session is held. */
  send(userId: string, sessionId: string, event: ClientEvent): Promise<void>;
  /** False when the user has no such session. */
  stop(userId: string, sessionId: string): Promise<boolean>;
  /** Ends the sessions of this process; no new ones are opened. */
  close(): Promise<void>;
}

interface RealtimeSessionsDependencies extends OpenSessionDependencies {
  readonly conversations: Pick<ConversationStore, 'ownerOf' | 'addTurn'>;
  readonly requests: Requests;
  readonly entries: Pick<Entries, 'put' | 'remove'>;
  readonly metrics: Metrics;
}

const CLOSING_TIMEOUT_MS = 5_000;

export function createRealtimeSessions(
  dependencies: RealtimeSessionsDependencies,
): RealtimeSessions {
  const { runtime, conversations, log } = dependencies;
  const relay = createSessionRelay(dependencies.requests);
  const owners = createSessionOwners(dependencies);
  const seats = createSeats();
  const held = new Map<string, { readonly userId: string; readonly session: LiveSession }>();
  const ending = new Set<Promise<unknown>>();
  let isClosed = false;
  dependencies.metrics.gauge({
    name: 'service_realtime_sessions',
    help: 'Open realtime sessions of this process.',
    collect: (gauge) => gauge.set(held.size),
  });

  async function assertAllowed({ userId, model, conversationId }: WantedSession): Promise<void> {
    if (conversationId !== undefined && (await conversations.ownerOf(conversationId)) !== userId) {
      throw new ServiceError('conversation_not_found', 'conversation not found');
    }
    await runtime.quotas.assertUserCovered(userId, runtime.router.aliases.resolve(model));
  }

  /** Goes on by itself; a process that closes waits for it. */
  function track(work: Promise<unknown>): void {
    const tracked = work
      .catch((error: unknown) =>
        log.error({ reason: describeError(error) }, 'a realtime session did not end cleanly'),
      )
      .finally(() => ending.delete(tracked));
    ending.add(tracked);
  }

  function take(sessionId: string, request: SessionRequest): SessionOutcome {
    const found = held.get(sessionId);
    if (found === undefined || found.userId !== request.userId) return 'not_found';
    if (request.kind === 'event' && request.event.type !== 'session.stop') {
      return found.session.send(request.event) ? 'done' : 'congested';
    }
    found.session.end('the client stopped it');
    return 'done';
  }

  async function ask(sessionId: string, request: SessionRequest): Promise<SessionOutcome> {
    if (!isSessionId(sessionId)) return 'not_found';
    return held.has(sessionId) ? take(sessionId, request) : relay.ask(sessionId, request);
  }

  /** Makes a session known to all replicas, until it ends. */
  async function announce(opened: OpenedSession, userId: string, undo: Undo): Promise<void> {
    const { sessionId, streamId, session } = opened;
    held.set(sessionId, { userId, session });
    undo.add(() => held.delete(sessionId));
    const served = await relay.serve(sessionId, (request) => take(sessionId, request));
    undo.add(() => served.close());
    await owners.add(streamId, userId);
    undo.add(() => owners.remove(streamId));
  }

  return {
    async start(wanted) {
      if (isClosed) throw stopping();
      const undo = createUndo();
      undo.add(seats.take(wanted.userId));
      let opened: OpenedSession | undefined;
      try {
        await assertAllowed(wanted);
        opened = await openSession(wanted, dependencies, (session, reason) => {
          log.info({ reason }, 'a realtime session ended');
          track(Promise.all([undo.run(), session.settled()]));
        });
        await announce(opened, wanted.userId, undo);
        if (isClosed) throw stopping();
        opened.begin();
        return { sessionId: opened.sessionId, streamId: opened.streamId };
      } catch (error) {
        opened?.session.end('it could not be opened');
        track(undo.run());
        throw error;
      }
    },
    async send(userId, sessionId, event) {
      const outcome = await ask(sessionId, { kind: 'event', userId, event });
      if (outcome !== 'done') throw refusal(outcome);
    },
    async stop(userId, sessionId) {
      // One that does not answer may just be going: what is sure is that this call did not remove it.
      return (await ask(sessionId, { kind: 'stop', userId })) === 'done';
    },
    async close() {
      isClosed = true;
      for (const { session } of held.values()) session.end('the service stops');
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
    case 'silent':
      return new ServiceError('bad_gateway', 'the session does not answer');
  }
}

const stopping = (): ServiceError => new ServiceError('bad_gateway', 'the service is stopping');
