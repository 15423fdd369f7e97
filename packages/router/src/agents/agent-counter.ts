/** How many agent nodes serve at the moment, and what. */
export interface AgentCounts {
  readonly agentsOnline: number;
  /** Online nodes with a GPU. */
  readonly gpuNodes: number;
  /** Models that are ready on an online node. */
  readonly modelsDeployed: number;
}

/** Counts the agent nodes of the installation. */
export interface AgentCounter {
  /** A node is online when it holds a connection and was heard of since then. */
  count(options: { readonly heartbeatSince: Date }): Promise<AgentCounts>;
}
