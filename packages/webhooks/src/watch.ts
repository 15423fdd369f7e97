import { newId, type Clock } from '@model-gateway/kernel';
import type { EventOutbox, EventType } from './event-store.ts';
import type { EventSources } from './event-sources.ts';

/** A backend as the router knows it. */
export interface WatchedBackend {
  readonly name: string;
  /** Undefined before its first probe. */
  readonly isHealthy: boolean | undefined;
}

interface WatchDependencies {
  readonly outbox: Pick<EventOutbox, 'addChange'>;
  readonly sources: Pick<EventSources, 'addExpiringKeys' | 'nodes'>;
  readonly backends: () => readonly WatchedBackend[];
  readonly clock: Clock;
  /** How long a node may be away before it is offline: one that connects again is no event. */
  readonly nodeTimeoutMs: number;
}

const DAYS_BEFORE_EXPIRY = [7, 1];
const EXPIRY_CHECK_MS = 10 * 60 * 1_000;

/** Compares the state of backends, nodes and keys with what was reported, and stores the changes as events. */
export function createWatch(dependencies: WatchDependencies): () => Promise<void> {
  const { outbox, sources, backends, clock, nodeTimeoutMs } = dependencies;
  /** What this process knows to be reported: most rounds find no change and need no query. */
  const known = new Map<string, string>();
  let keysCheckedAt = -Infinity;

  async function report(
    subject: string,
    state: string,
    typeOf: (before: string | undefined) => EventType | undefined,
    data: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    if (known.get(subject) === state) return;
    await outbox.addChange(subject, state, (before) => {
      const type = typeOf(before);
      return type && { key: `${type}:${newId()}`, type, groupId: null, data };
    });
    known.set(subject, state);
  }

  async function checkBackends(): Promise<void> {
    for (const { name, isHealthy } of backends()) {
      if (isHealthy === undefined) continue;
      await report(
        `backend:${name}`,
        isHealthy ? 'healthy' : 'unhealthy',
        (before) => {
          if (!isHealthy) return 'backend.unhealthy';
          return before === undefined ? undefined : 'backend.healthy';
        },
        { backend: name },
      );
    }
  }

  async function checkNodes(): Promise<void> {
    const offlineBefore = clock.now() - nodeTimeoutMs;
    for (const { id, name, isConnected, lastHeartbeatAt } of await sources.nodes()) {
      const subject = `node:${id}`;
      const data = { node_id: id, node_name: name };
      if (isConnected) await report(subject, 'online', () => undefined, data);
      else if (lastHeartbeatAt !== null && lastHeartbeatAt.getTime() < offlineBefore)
        await report(
          subject,
          'offline',
          (before) => (before === 'online' ? 'node.offline' : undefined),
          data,
        );
    }
  }

  async function checkKeys(): Promise<void> {
    const now = clock.now();
    if (now - keysCheckedAt < EXPIRY_CHECK_MS) return;
    await sources.addExpiringKeys(new Date(now), DAYS_BEFORE_EXPIRY);
    keysCheckedAt = now;
  }

  return async () => {
    await checkBackends();
    await checkNodes();
    await checkKeys();
  };
}
