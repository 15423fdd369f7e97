import type { BackendConfig } from '../registry/backend-config-store.ts';
import type { AgentGpu, AgentNode, DeployedModel } from './agent-node.ts';

/** The registered nodes, for those who look at them. */
export interface AgentStore {
  register(node: {
    readonly name: string;
    readonly version: string;
    readonly tokenHash: string;
  }): Promise<{ readonly id: string }>;
  /** By name. */
  list(): Promise<readonly AgentNode[]>;
  find(agentId: string): Promise<AgentNode | undefined>;
  /** Forgets a node and what it served; undefined when there is none. */
  remove(
    agentId: string,
    options: Pick<PlacementOptions, 'onlineSince'>,
  ): Promise<(NodeRemoval & { readonly connectionId: string | null }) | undefined>;
}

/** The connections of nodes, for those who hold them. Whatever names a connection does nothing once it lost its node. */
export interface AgentConnections {
  /** The node that a token belongs to. */
  authenticate(tokenHash: string): Promise<string | undefined>;
  /** Gives a node to a new connection; undefined when the node is gone. */
  claim(
    claim: AgentClaim,
    options: Pick<PlacementOptions, 'onlineSince'>,
  ): Promise<ClaimedAgent | undefined>;
  /** Notes heartbeats; answers the connections that still hold their nodes. */
  recordHeartbeats(heartbeats: readonly AgentHeartbeat[]): Promise<ReadonlySet<string>>;
  /** Ends a connection; undefined when it had lost its node before. */
  disconnect(
    node: NodeConnection,
    options: Pick<PlacementOptions, 'onlineSince'>,
  ): Promise<NodeRemoval | undefined>;
  /** What the node has now; models that are being deployed stay. Undefined when the connection lost its node. */
  saveModels(
    node: NodeConnection,
    models: readonly ReachableModel[],
    options: PlacementOptions,
  ): Promise<readonly PlacedBackend[] | undefined>;
  /** Notes that a stream is told of a deployment; false when the connection lost its node. */
  beginDeploy(node: NodeConnection, modelId: string, streamId: string): Promise<boolean>;
  /** Ends a deployment; answers the streams that are owed its end. */
  endDeploy(agentId: string, modelId: string): Promise<readonly string[]>;
  /** The nodes that hold a connection but were not heard of since. */
  findStale(since: Date): Promise<readonly NodeConnection[]>;
}

/** A node and the connection that holds it. */
export interface NodeConnection {
  readonly agentId: string;
  readonly connectionId: string;
}

export interface AgentTelemetry {
  readonly gpus: readonly AgentGpu[];
  readonly gpuUtilization: number | null;
  readonly at: Date;
}

export interface AgentClaim extends NodeConnection, AgentTelemetry {
  readonly version: string;
  readonly host: string;
  /** The models that the node still has; it lost the others. */
  readonly modelIds: readonly string[];
}

export interface AgentHeartbeat extends NodeConnection, AgentTelemetry {}

/** What the coming of a connection means to others: deployments of the one before it have ended with that. */
export interface ClaimedAgent extends NodeRemoval {
  /** The connection that held it before. */
  readonly previous: string | null;
}

/** A model and where the gateway reaches it; null while that is not known. */
export interface ReachableModel extends DeployedModel {
  readonly url: string | null;
}

export interface PlacementOptions {
  /** Only nodes that were heard of since then serve. */
  readonly onlineSince: Date;
  /** A model that was just deployed here, also where it was ready before: from now on this node serves it. */
  readonly redeployed?: string | undefined;
}

/** A deployment that cannot end any more, and the streams that are owed its end. */
export interface BrokenDeploy {
  readonly agentId: string;
  readonly modelId: string;
  readonly streams: readonly string[];
}

/** A backend that has changed: where it is now, or null when nobody serves it any more. */
export interface PlacedBackend {
  readonly name: string;
  readonly config: BackendConfig | null;
}

/** What the leaving of a node means to others. */
export interface NodeRemoval {
  readonly deploys: readonly BrokenDeploy[];
  readonly backends: readonly PlacedBackend[];
}
