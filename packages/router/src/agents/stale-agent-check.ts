import {
  describeError,
  type Clock,
  type Entries,
  type Log,
  type Requests,
} from '@model-gateway/kernel';
import type { BackendAnnouncer } from '../registry/backend-announcer.ts';
import { onlineSince } from './agent-node.ts';
import type { AgentConnections, NodeConnection } from './agent-store.ts';
import type { DeployNotices } from './deploy-notices.ts';
import { hasEnded } from './tunnel-process.ts';

/**
 * Removes nodes from routing whose connection was lost because its process died. Every routing process does this, so that it
 * does not depend on the processes with connections.
 */
export interface StaleAgentCheck {
  /** Where this is the only process, first ends the connections that an earlier one left behind. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface StaleAgentCheckDependencies {
  readonly connections: Pick<
    AgentConnections,
    'findStale' | 'findSilent' | 'findConnected' | 'removeProcess' | 'disconnect'
  >;
  readonly entries: Pick<Entries, 'get'>;
  readonly requests: Pick<Requests, 'call'>;
  readonly announcer: BackendAnnouncer;
  readonly notices: Pick<DeployNotices, 'fail'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  /** Whether no other process can have connections. */
  readonly isOnlyProcess: boolean;
}

/** The entry that shows that the process of a connection is alive, also while the database is unavailable. */
export const agentAliveKey = (agentId: string): string => `agent-alive:${agentId}`;

const CHECK_EVERY_MS_MAX = 1_000;
/** Three renewals. With the interval of the check, the nodes of a process that ended are offline within 5 seconds. */
const SILENT_MS = 3_000;
const CHECKS_PER_TIMEOUT = 10;

export function createStaleAgentCheck(dependencies: StaleAgentCheckDependencies): StaleAgentCheck {
  const { connections, entries, requests, announcer, notices, clock, log } = dependencies;
  const { timeoutMs, isOnlyProcess } = dependencies;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> = Promise.resolve();

  /** The database may have missed heartbeats, and Redis may have lost entries: a node is stale only if both say so. */
  async function isAlive({ agentId, connectionId }: NodeConnection): Promise<boolean> {
    return (await entries.get(agentAliveKey(agentId))) === connectionId;
  }

  async function release(node: NodeConnection, why: string): Promise<void> {
    const since = onlineSince(clock.now(), timeoutMs);
    // Several processes may check at once; in the database only one of them succeeds.
    const removal = await connections.disconnect(node, { onlineSince: since });
    if (removal === undefined) return;
    log.warn({ agentId: node.agentId }, `an agent is offline: ${why}`);
    await announcer.announce(removal.backends);
    for (const deploy of removal.deploys) await notices.fail(deploy, 'the agent disconnected');
  }

  /** A process has ended if neither the database nor the channels know it: each of them may be unavailable to it. */
  async function checkProcesses(): Promise<void> {
    const silent = await connections.findSilent(SILENT_MS);
    for (const processId of new Set(silent.map((node) => node.processId))) {
      if (!(await hasEnded(requests, processId))) continue;
      const nodes = silent.filter((node) => node.processId === processId);
      for (const node of nodes) await release(node, 'its tunnel process has ended');
      await connections.removeProcess(processId);
    }
  }

  async function checkAll(): Promise<void> {
    if (!isOnlyProcess) await checkProcesses();
    const stale = await connections.findStale(onlineSince(clock.now(), timeoutMs));
    for (const node of stale) {
      if (!(await isAlive(node))) await release(node, 'no heartbeat in time');
    }
  }

  return {
    async start() {
      const left = isOnlyProcess ? await connections.findConnected() : [];
      for (const node of left) await release(node, 'the earlier process has ended');
      const everyMs = timeoutMs / CHECKS_PER_TIMEOUT;
      let isBusy = false;
      timer = setInterval(
        () => {
          if (isBusy) return;
          isBusy = true;
          checking = checkAll()
            .catch((error: unknown) => {
              log.debug({ reason: describeError(error) }, 'checking for stale agents failed');
            })
            .finally(() => {
              isBusy = false;
            });
        },
        isOnlyProcess ? everyMs : Math.min(CHECK_EVERY_MS_MAX, everyMs),
      ).unref();
    },
    async stop() {
      clearInterval(timer);
      await checking;
    },
  };
}
