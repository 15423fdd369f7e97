/** How many agent nodes are online, and how many models they serve. */
export interface AgentCounts {
  readonly agentsOnline: number;
  /** Online nodes with a GPU. */
  readonly gpuNodes: number;
  /** Models that are ready on an online node. */
  readonly modelsDeployed: number;
}

/** Counts the agent nodes of the installation. */
export interface AgentCounter {
  /** A node is online when it has a connection and sent a heartbeat since then. */
  count(options: { readonly heartbeatSince: Date }): Promise<AgentCounts>;
}
