import { describeError, type Clock, type Entries, type Log } from '@model-gateway/kernel';
import type { BackendAnnouncer } from '../registry/backend-announcer.ts';
import { onlineSince } from './agent-node.ts';
import type { AgentConnections, NodeConnection } from './agent-store.ts';
import type { DeployNotices } from './deploy-notices.ts';

/**
 * Takes nodes out of routing whose connection was lost without anybody noticing, because the process that held it died.
 * Every process that routes does this, so that it does not depend on those which hold connections.
 */
export interface StaleAgentCheck {
  start(): void;
  stop(): Promise<void>;
}

interface StaleAgentCheckDependencies {
  readonly connections: Pick<AgentConnections, 'findStale' | 'disconnect'>;
  readonly entries: Pick<Entries, 'get'>;
  readonly announcer: BackendAnnouncer;
  readonly notices: Pick<DeployNotices, 'fail'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
}

/** The entry by which the holder of a connection shows that it is alive, also while the database is away. */
export const agentAliveKey = (agentId: string): string => `agent-alive:${agentId}`;

const CHECK_EVERY_MS_MAX = 2_000;
const CHECKS_PER_TIMEOUT = 10;

export function createStaleAgentCheck(dependencies: StaleAgentCheckDependencies): StaleAgentCheck {
  const { connections, entries, announcer, notices, clock, log, timeoutMs } = dependencies;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> = Promise.resolve();

  /** The database may have missed heartbeats, and Redis may have lost entries: only both together are believed. */
  async function isAlive({ agentId, connectionId }: NodeConnection): Promise<boolean> {
    return (await entries.get(agentAliveKey(agentId))) === connectionId;
  }

  async function release(node: NodeConnection): Promise<void> {
    const since = onlineSince(clock.now(), timeoutMs);
    // Several processes may look at once; the database lets one of them do it.
    const removal = await connections.disconnect(node, { onlineSince: since });
    if (removal === undefined) return;
    log.warn({ agentId: node.agentId }, 'an agent is offline: nothing was heard of it in time');
    await announcer.announce(removal.backends);
    for (const deploy of removal.deploys) await notices.fail(deploy, 'the agent disconnected');
  }

  async function checkAll(): Promise<void> {
    const stale = await connections.findStale(onlineSince(clock.now(), timeoutMs));
    for (const node of stale) {
      if (!(await isAlive(node))) await release(node);
    }
  }

  return {
    start() {
      const everyMs = Math.min(CHECK_EVERY_MS_MAX, timeoutMs / CHECKS_PER_TIMEOUT);
      let isBusy = false;
      timer = setInterval(() => {
        if (isBusy) return;
        isBusy = true;
        checking = checkAll()
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
      await checking;
    },
  };
}
