import type { BackendConfig } from '../registry/backend-config-store.ts';
import type { AgentGpu, AgentNode, DeployedModel } from './agent-node.ts';

/** The first nodes, or those after one. */
export interface AgentPage {
  readonly after?: string | undefined;
  readonly countMax: number;
}

/** The registered nodes. */
export interface AgentStore {
  register(node: {
    readonly name: string;
    readonly version: string;
    readonly tokenHash: string;
    /** The hosts that it may name as its own. */
    readonly hosts: readonly string[];
  }): Promise<{ readonly id: string }>;
  /** By name: all, or a page of the first ones or of those after one. */
  list(page?: AgentPage): Promise<readonly AgentNode[]>;
  find(agentId: string): Promise<AgentNode | undefined>;
  /** Declares what a model can do wherever it is served from now on. */
  declareCapabilities(modelId: string, capabilities: readonly string[]): Promise<void>;
  /** Deletes a node and its models; undefined when there is none. */
  remove(
    agentId: string,
    options: Pick<PlacementOptions, 'onlineSince'>,
  ): Promise<(NodeRemoval & { readonly connectionId: string | null }) | undefined>;
}

/** The connections of nodes. Calls for a connection that has lost its node do nothing. */
export interface AgentConnections {
  /** The node that a token belongs to. */
  authenticate(tokenHash: string): Promise<AuthenticatedAgent | undefined>;
  /** Assigns a node to a new connection; undefined when the node was deleted. */
  claim(
    claim: AgentClaim,
    options: Pick<PlacementOptions, 'onlineSince'>,
  ): Promise<ClaimedAgent | undefined>;
  /** Stores heartbeats; returns the connections that still have their nodes. */
  recordHeartbeats(heartbeats: readonly AgentHeartbeat[]): Promise<ReadonlySet<string>>;
  /** Ends a connection; undefined when it had lost its node before. */
  disconnect(
    node: NodeConnection,
    options: Pick<PlacementOptions, 'onlineSince'>,
  ): Promise<NodeRemoval | undefined>;
  /**
   * Replaces the models of the node, except those being deployed. Only models that are deployed on it are placed. Undefined
   * when the connection lost its node.
   */
  saveModels(
    node: NodeConnection,
    models: readonly ReachableModel[],
    options: PlacementOptions,
  ): Promise<SavedModels | undefined>;
  /** Adds a stream to a deployment, unless something prevents it. */
  beginDeploy(node: NodeConnection, modelId: string, streamId: string): Promise<DeployBegin>;
  /** Ends a deployment; returns the streams on which the end must be published. */
  endDeploy(agentId: string, modelId: string): Promise<readonly string[]>;
  /** The nodes with a connection but without a heartbeat since then. */
  findStale(since: Date): Promise<readonly NodeConnection[]>;
  /** Records that a process with connections runs. */
  renewProcess(processId: string): Promise<void>;
  removeProcess(processId: string): Promise<void>;
  /** The nodes whose process was not renewed for this long, by the clock of the database. */
  findSilent(silentMs: number): Promise<readonly SilentNode[]>;
  /** Every node with a connection. */
  findConnected(): Promise<readonly NodeConnection[]>;
}

/** What storing the models of a node has changed. */
export interface SavedModels {
  readonly backends: readonly PlacedBackend[];
  /** The models that are deployed on the node: deploying one elsewhere takes it away. */
  readonly deployed: readonly string[];
}

/** The node that a token belongs to. */
export interface AuthenticatedAgent {
  readonly agentId: string;
  /** The hosts that it may name as its own. */
  readonly hosts: readonly string[];
}

/** Whether a deployment began. Otherwise the connection lost its node, or an operator's backend has the name. */
export type DeployBegin = 'begun' | 'offline' | 'name_taken';

/** The ids of a node and of its connection. */
export interface NodeConnection {
  readonly agentId: string;
  readonly connectionId: string;
}

/** A node whose process may have ended. */
export interface SilentNode extends NodeConnection {
  readonly processId: string;
}

export interface AgentTelemetry {
  readonly gpus: readonly AgentGpu[];
  readonly gpuUtilization: number | null;
  readonly at: Date;
}

export interface AgentClaim extends NodeConnection, AgentTelemetry {
  readonly version: string;
  readonly host: string;
  /** The process that holds the connection. */
  readonly processId?: string;
  /** The models that the node still has; the others are removed. */
  readonly modelIds: readonly string[];
}

export interface AgentHeartbeat extends NodeConnection, AgentTelemetry {}

/** The result of a claim: the deployments of the previous connection have ended. */
export interface ClaimedAgent extends NodeRemoval {
  /** The previous connection. */
  readonly previous: string | null;
  /** The models that are deployed on the node. */
  readonly deployed: readonly string[];
}

/** A model and its URL; null while that is not known. */
export interface ReachableModel extends DeployedModel {
  readonly url: string | null;
}

export interface PlacementOptions {
  /** Only nodes with a heartbeat since then serve. */
  readonly onlineSince: Date;
  /** A model that was just deployed here: from now on this node serves it. */
  readonly deployed?: string | undefined;
  /** A model that was just stopped here: from now on this node does not serve it. */
  readonly stopped?: string | undefined;
}

/** An aborted deployment, and the streams on which its end must be published. */
export interface BrokenDeploy {
  readonly agentId: string;
  readonly modelId: string;
  readonly streams: readonly string[];
}

/** A changed backend: its new place, or null when no node serves it any more. */
export interface PlacedBackend {
  readonly name: string;
  readonly config: BackendConfig | null;
}

/** The deployments and backends that change when a node disconnects or is deleted. */
export interface NodeRemoval {
  readonly deploys: readonly BrokenDeploy[];
  readonly backends: readonly PlacedBackend[];
}
