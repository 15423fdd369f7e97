import type { Clock, Entries, Log } from '@model-gateway/kernel';
import type {
  AgentCommands,
  AgentConnections,
  AgentStore,
  BackendAnnouncer,
} from '@model-gateway/router';
import type { FrameAllowances } from './nodes/frame-allowance.ts';
import type { Heartbeats } from './nodes/heartbeats.ts';
import type { ProgressStreams } from './models/progress-streams.ts';

/** What all connections of this process share. */
export interface TunnelDependencies {
  readonly processId: string;
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
  /** Whether requests of gateways can be forwarded to nodes at all. */
  readonly canTunnel: boolean;
  /** The key with which gateways authenticate requests through the tunnel. */
  readonly tunnelKey: string;
  /** How much each node may send. */
  readonly allowances: FrameAllowances;
  /** Called for every refused frame. */
  readonly onRefused: () => void;
  /** Called when a node has sent more than it may. */
  readonly onDelayed: () => void;
}
