import type { Clock, Entries, Log } from '@model-gateway/kernel';
import type {
  AgentCommands,
  AgentConnections,
  AgentStore,
  BackendAnnouncer,
} from '@model-gateway/router';
import type { Heartbeats } from './heartbeats.ts';
import type { ProgressStreams } from './progress-streams.ts';

/** What the connections of this process share. */
export interface TunnelDependencies {
  readonly agents: Pick<AgentStore, 'find'>;
  readonly connections: AgentConnections;
  readonly commands: AgentCommands;
  readonly announcer: BackendAnnouncer;
  readonly entries: Pick<Entries, 'put' | 'removeIf'>;
  readonly heartbeats: Heartbeats;
  readonly streams: ProgressStreams;
  readonly clock: Clock;
  readonly log: Log;
  readonly heartbeatMs: number;
  readonly timeoutMs: number;
  /** Whether requests of gateways can be passed on to nodes at all. */
  readonly canTunnel: boolean;
  /** What gateways show when they send requests through the tunnel. */
  readonly tunnelKey: string;
  /** A frame was refused. */
  readonly onRefused: () => void;
}
