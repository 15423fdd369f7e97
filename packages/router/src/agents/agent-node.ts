/** A GPU node as of its last heartbeat. */
export interface AgentNode {
  readonly id: string;
  readonly name: string;
  /** Where its models can be reached, if the node or its connection reported it. */
  readonly host: string | null;
  /** The hosts that it may name as its own, as an admin allowed. */
  readonly hosts: readonly string[];
  readonly version: string;
  readonly gpus: readonly AgentGpu[];
  /** The average over its GPUs in percent; null if it reports none. */
  readonly gpuUtilization: number | null;
  readonly models: readonly DeployedModel[];
  readonly createdAt: Date;
  readonly connectedAt: Date | null;
  readonly lastHeartbeatAt: Date | null;
  /** The connection that holds it; null while it has none. */
  readonly connectionId: string | null;
}

export interface AgentGpu {
  readonly name: string;
  readonly memoryTotalMb: number;
  readonly memoryUsedMb: number;
  readonly utilization: number;
}

export interface DeployedModel {
  readonly modelId: string;
  readonly status: string;
  readonly port: number | null;
}

/** The status of a model that can be called. */
export const READY = 'ready';

/** The status of a model that a node reports although it was not deployed there. It is not served. */
export const IGNORED = 'ignored';

/** The heartbeats since which a node counts as online. */
export const onlineSince = (now: number, timeoutMs: number): Date => new Date(now - timeoutMs);

/** Whether a node has a connection and a recent heartbeat. */
export function isOnline(
  { connectionId, lastHeartbeatAt }: Pick<AgentNode, 'connectionId' | 'lastHeartbeatAt'>,
  since: Date,
): boolean {
  return connectionId !== null && lastHeartbeatAt !== null && lastHeartbeatAt >= since;
}

/** By load: the lowest GPU utilization, then the fewest models, then the name. Nodes without telemetry come last. */
export function byLoad(nodes: readonly AgentNode[]): readonly AgentNode[] {
  return nodes.toSorted(
    (left, right) =>
      loadOf(left) - loadOf(right) ||
      modelCount(left) - modelCount(right) ||
      (left.name < right.name ? -1 : Number(left.name > right.name)),
  );
}

const modelCount = ({ models }: AgentNode): number =>
  models.filter(({ status }) => status !== IGNORED).length;

/** Above every percentage, and still a number that can be subtracted. */
const WITHOUT_TELEMETRY = Number.MAX_SAFE_INTEGER;

const loadOf = ({ gpuUtilization }: AgentNode): number => gpuUtilization ?? WITHOUT_TELEMETRY;
