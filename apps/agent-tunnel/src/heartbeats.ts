import { describeError, type Entries, type Log } from '@model-gateway/kernel';
import { agentAliveKey, type AgentBeat, type AgentConnections } from '@model-gateway/router';

/** Writes down the heartbeats of all nodes of this process, many at a time. */
export interface Heartbeats {
  note(beat: AgentBeat): void;
  /** Forgets what has not been written down. */
  forget(connectionId: string): void;
  stop(): Promise<void>;
}

interface HeartbeatsDependencies {
  readonly connections: Pick<AgentConnections, 'beat'>;
  readonly entries: Pick<Entries, 'put'>;
  /** Told of connections that no longer hold their nodes. */
  readonly onLost: (connectionId: string) => void;
  readonly log: Log;
  readonly timeoutMs: number;
}

const GATHER_MS = 500;

export function createHeartbeats(dependencies: HeartbeatsDependencies): Heartbeats {
  const { connections, entries, onLost, log, timeoutMs } = dependencies;
  /** The newest of each connection. */
  const noted = new Map<string, AgentBeat>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isFailing = false;

  async function keepAlive(beats: readonly AgentBeat[]): Promise<void> {
    const expiry = { expiresAfterMs: timeoutMs };
    await Promise.all(
      beats.map(({ agentId, connectionId }) =>
        entries.put(agentAliveKey(agentId), connectionId, expiry),
      ),
    );
  }

  async function write(beats: readonly AgentBeat[]): Promise<void> {
    try {
      const [held] = await Promise.all([connections.beat(beats), keepAlive(beats)]);
      isFailing = false;
      for (const { connectionId } of beats) if (!held.has(connectionId)) onLost(connectionId);
    } catch (error) {
      // The next ones are written in their place, and as long as that fails it is said once.
      if (!isFailing)
        log.warn({ reason: describeError(error) }, 'heartbeats cannot be written down');
      isFailing = true;
    }
  }

  function flush(): void {
    timer = undefined;
    const beats = [...noted.values()];
    noted.clear();
    writing = writing.then(() => write(beats));
  }

  return {
    note(beat) {
      noted.set(beat.connectionId, beat);
      timer ??= setTimeout(flush, GATHER_MS);
    },
    forget: (connectionId) => void noted.delete(connectionId),
    async stop() {
      clearTimeout(timer);
      await writing;
    },
  };
}
