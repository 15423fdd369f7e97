import { describeError, type Clock, type Entries, type Log } from '@model-gateway/kernel';
import type { BackendAnnouncer } from '../registry/backend-announcer.ts';
import { onlineSince } from './agent-node.ts';
import type { AgentConnections, HeldAgent } from './agent-store.ts';
import type { DeployNotices } from './deploy-notices.ts';

/**
 * Takes nodes out of routing whose connection was lost without anybody noticing, because the process that held it died.
 * Every process that routes does this, so that it does not depend on those which hold connections.
 */
export interface AgentWatch {
  start(): void;
  stop(): Promise<void>;
}

interface AgentWatchDependencies {
  readonly connections: Pick<AgentConnections, 'findSilent' | 'leave'>;
  readonly entries: Pick<Entries, 'get'>;
  readonly announcer: BackendAnnouncer;
  readonly notices: Pick<DeployNotices, 'fail'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
}

/** The entry by which the holder of a connection shows that it is alive, also while the database is away. */
export const agentAliveKey = (agentId: string): string => `agent-alive:${agentId}`;

const LOOK_EVERY_MS_MAX = 2_000;
const LOOKS_PER_TIMEOUT = 10;

export function createAgentWatch(dependencies: AgentWatchDependencies): AgentWatch {
  const { connections, entries, announcer, notices, clock, log, timeoutMs } = dependencies;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();

  /** The database may have missed heartbeats, and Redis may have lost entries: only both together are believed. */
  async function isAlive({ agentId, connectionId }: HeldAgent): Promise<boolean> {
    return (await entries.get(agentAliveKey(agentId))) === connectionId;
  }

  async function release(held: HeldAgent): Promise<void> {
    const since = onlineSince(clock.now(), timeoutMs);
    // Several processes may look at once; the database lets one of them do it.
    const departure = await connections.leave(held, { onlineSince: since });
    if (departure === undefined) return;
    log.warn({ agentId: held.agentId }, 'an agent is offline: nothing was heard of it in time');
    await announcer.announce(departure.backends);
    for (const deploy of departure.deploys) await notices.fail(deploy, 'the agent disconnected');
  }

  async function look(): Promise<void> {
    const silent = await connections.findSilent(onlineSince(clock.now(), timeoutMs));
    for (const held of silent) {
      if (!(await isAlive(held))) await release(held);
    }
  }

  return {
    start() {
      const everyMs = Math.min(LOOK_EVERY_MS_MAX, timeoutMs / LOOKS_PER_TIMEOUT);
      let isBusy = false;
      timer = setInterval(() => {
        if (isBusy) return;
        isBusy = true;
        looking = look()
          .catch((error: unknown) => {
            log.debug({ reason: describeError(error) }, 'agents could not be looked after');
          })
          .finally(() => {
            isBusy = false;
          });
      }, everyMs).unref();
    },
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
