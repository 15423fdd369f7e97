import { describeError, type Clock, type Entries, type Log } from '@model-gateway/kernel';
import type { BackendAnnouncer } from '../registry/backend-announcer.ts';
import { onlineSince } from './agent-node.ts';
import type { AgentConnections, NodeConnection } from './agent-store.ts';
import type { DeployNotices } from './deploy-notices.ts';

/**
 * Removes nodes from routing whose connection was lost because its process died. Every routing process does this, so that it
 * does not depend on the processes with connections.
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

/** The entry that shows that the process of a connection is alive, also while the database is unavailable. */
export const agentAliveKey = (agentId: string): string => `agent-alive:${agentId}`;

const CHECK_EVERY_MS_MAX = 2_000;
const CHECKS_PER_TIMEOUT = 10;

export function createStaleAgentCheck(dependencies: StaleAgentCheckDependencies): StaleAgentCheck {
  const { connections, entries, announcer, notices, clock, log, timeoutMs } = dependencies;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> = Promise.resolve();

  /** The database may have missed heartbeats, and Redis may have lost entries: a node is stale only if both say so. */
  async function isAlive({ agentId, connectionId }: NodeConnection): Promise<boolean> {
    return (await entries.get(agentAliveKey(agentId))) === connectionId;
  }

  async function release(node: NodeConnection): Promise<void> {
    const since = onlineSince(clock.now(), timeoutMs);
    // Several processes may check at once; in the database only one of them succeeds.
    const removal = await connections.disconnect(node, { onlineSince: since });
    if (removal === undefined) return;
    log.warn({ agentId: node.agentId }, 'an agent is offline: no heartbeat in time');
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
            log.debug({ reason: describeError(error) }, 'checking for stale agents failed');
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
