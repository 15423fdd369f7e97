import { describeError, type Entries, type Log } from '@model-gateway/kernel';
import { agentAliveKey, type AgentHeartbeat, type AgentConnections } from '@model-gateway/router';

/** Stores the heartbeats of all nodes of this process, in batches. */
export interface Heartbeats {
  add(heartbeat: AgentHeartbeat): void;
  /** Discards a heartbeat that has not been stored. */
  discard(connectionId: string): void;
  stop(): Promise<void>;
}

interface HeartbeatsDependencies {
  readonly connections: Pick<AgentConnections, 'recordHeartbeats'>;
  readonly entries: Pick<Entries, 'put'>;
  /** Called for connections that no longer own their nodes. */
  readonly onLost: (connectionId: string) => void;
  readonly log: Log;
  readonly timeoutMs: number;
}

const BATCH_MS = 500;

export function createHeartbeats(dependencies: HeartbeatsDependencies): Heartbeats {
  const { connections, entries, onLost, log, timeoutMs } = dependencies;
  /** The newest one of each connection. */
  const pending = new Map<string, AgentHeartbeat>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isFailing = false;

  async function keepAlive(batch: readonly AgentHeartbeat[]): Promise<void> {
    const expiry = { expiresAfterMs: timeoutMs };
    await Promise.all(
      batch.map(({ agentId, connectionId }) =>
        entries.put(agentAliveKey(agentId), connectionId, expiry),
      ),
    );
  }

  async function write(batch: readonly AgentHeartbeat[]): Promise<void> {
    try {
      const [owned] = await Promise.all([connections.recordHeartbeats(batch), keepAlive(batch)]);
      isFailing = false;
      for (const { connectionId } of batch) if (!owned.has(connectionId)) onLost(connectionId);
    } catch (error) {
      // The next heartbeats replace these; an outage is logged once.
      if (!isFailing) log.warn({ reason: describeError(error) }, 'storing heartbeats failed');
      isFailing = true;
    }
  }

  function flush(): void {
    timer = undefined;
    const batch = [...pending.values()];
    pending.clear();
    writing = writing.then(() => write(batch));
  }

  return {
    add(heartbeat) {
      pending.set(heartbeat.connectionId, heartbeat);
      timer ??= setTimeout(flush, BATCH_MS);
    },
    discard: (connectionId) => void pending.delete(connectionId),
    async stop() {
      clearTimeout(timer);
      await writing;
    },
  };
}
