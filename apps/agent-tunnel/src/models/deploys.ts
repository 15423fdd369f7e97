import { AGENT_METHODS, agentDeployedSchema, type AgentProgress } from '@model-gateway/contracts';
import { describeError, startPeerTimeout, type Log } from '@model-gateway/kernel';
import {
  agentBackendName,
  type AgentConnections,
  type DeployBegin,
  type NodeConnection,
} from '@model-gateway/router';
import { NodeError, type AgentCalls } from '../nodes/agent-calls.ts';
import type { ProgressStreams } from './progress-streams.ts';

/** The deployments in progress on one node. */
export interface Deploys {
  /** Begins one, or adds a stream to the one in progress; returns the reason when it is refused. */
  begin(modelId: string, streamId: string): Promise<{ readonly refusal?: string }>;
  isRunning(streamId: string, modelId: string): boolean;
  /** Whether a deployment of this model is in progress. */
  isDeploying(modelId: string): boolean;
  onProgress(progress: AgentProgress): void;
  /** Ends a deployment of this model, if there is one. */
  cancel(modelId: string, reason: string): void;
}

interface DeploysDependencies {
  readonly node: NodeConnection;
  readonly connections: Pick<AgentConnections, 'beginDeploy' | 'endDeploy'>;
  readonly calls: Pick<AgentCalls, 'call'>;
  readonly streams: ProgressStreams;
  /** The port of a model that is deployed on the node and ready. */
  readonly readyPort: (modelId: string) => number | undefined;
  /** Makes the model routable; rejects with a NodeError when it cannot be reached. */
  readonly onReady: (modelId: string, port: number) => Promise<void>;
  /** Called when a deployment has failed and is no longer in progress. */
  readonly onFailed: (modelId: string) => void;
  readonly log: Log;
  readonly reportTimeoutMs?: number;
}

interface RunningDeploy {
  /** The stream id that the node got; its progress frames contain it. */
  readonly streamId: string;
  readonly listeners: Set<string>;
  readonly controller: AbortController;
  restartTimeout: () => void;
}

/** A deployment fails after this time without a report of the node. */
const REPORT_TIMEOUT_MS = 300_000;
const RUNNING_MAX = 32;
const LISTENERS_MAX = 64;

export function createDeploys(dependencies: DeploysDependencies): Deploys {
  const { node, connections, calls, streams, readyPort, onReady, onFailed, log } = dependencies;
  const { reportTimeoutMs = REPORT_TIMEOUT_MS } = dependencies;
  const { agentId } = node;
  const running = new Map<string, RunningDeploy>();

  async function deployOnNode(modelId: string, deploy: RunningDeploy): Promise<number> {
    const known = readyPort(modelId);
    if (known !== undefined) return known;
    const params = { model_id: modelId, stream_id: deploy.streamId };
    const timeout = startPeerTimeout(reportTimeoutMs, () => {
      deploy.controller.abort(`the agent reported nothing for ${reportTimeoutMs / 1000} seconds`);
    });
    deploy.restartTimeout = () => timeout.refresh();
    const deployed = agentDeployedSchema.safeParse(
      await calls
        .call(AGENT_METHODS.deploy, params, deploy.controller.signal)
        .finally(() => timeout.stop()),
    );
    if (!deployed.success) throw new NodeError('the response of the agent contains no port');
    return deployed.data.port;
  }

  /** The database returns the streams without an end, so that exactly one process ends them. */
  async function openStreams(modelId: string, deploy: RunningDeploy): Promise<readonly string[]> {
    try {
      return await connections.endDeploy(agentId, modelId);
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'storing the end of a deployment failed');
      return [...deploy.listeners];
    }
  }

  async function run(modelId: string, deploy: RunningDeploy): Promise<void> {
    let failure: string | undefined;
    try {
      await onReady(modelId, await deployOnNode(modelId, deploy));
    } catch (error) {
      failure = error instanceof NodeError ? error.message : 'the deployment failed';
      log.warn({ agentId, modelId, reason: describeError(error) }, 'a deployment failed');
    }
    running.delete(modelId);
    const open = await openStreams(modelId, deploy);
    if (failure !== undefined) {
      onFailed(modelId);
      return streams.fail({ agentId, modelId, streams: open }, failure);
    }
    log.info({ agentId, modelId }, 'a model was deployed');
    for (const streamId of open) await streams.push(readyNotice(streamId, agentId, modelId));
  }

  /** Stores the stream, so that it gets the end of the deployment. */
  async function storeStream(
    modelId: string,
    streamId: string,
    deploy: RunningDeploy,
  ): Promise<DeployBegin> {
    let begin: DeployBegin | undefined;
    try {
      begin = await connections.beginDeploy(node, modelId, streamId);
      return begin;
    } finally {
      if (begin !== 'begun') deploy.listeners.delete(streamId);
      if (deploy.listeners.size === 0 && running.get(modelId) === deploy) running.delete(modelId);
    }
  }

  /** The deployment ended while a stream was being added to it. */
  function rerun(modelId: string, streamId: string): void {
    const deploy = running.get(modelId) ?? newRun(streamId);
    deploy.listeners.add(streamId);
    if (running.has(modelId)) return;
    running.set(modelId, deploy);
    void run(modelId, deploy);
  }

  return {
    async begin(modelId, streamId) {
      const existing = running.get(modelId);
      if (existing === undefined && running.size >= RUNNING_MAX)
        return { refusal: `${RUNNING_MAX} deployments are already in progress on this agent` };
      if (existing !== undefined && existing.listeners.size >= LISTENERS_MAX)
        return { refusal: 'this model is already being deployed' };
      const deploy = existing ?? newRun(streamId);
      running.set(modelId, deploy);
      deploy.listeners.add(streamId);
      const begin = await storeStream(modelId, streamId, deploy);
      if (begin === 'offline') return { refusal: 'the agent is offline' };
      if (begin === 'name_taken') return { refusal: nameTaken(modelId) };
      streams.open(streamId);
      if (existing === undefined) void run(modelId, deploy);
      else if (running.get(modelId) !== existing) rerun(modelId, streamId);
      return {};
    },
    isDeploying: (modelId) => running.has(modelId),
    isRunning: (streamId, modelId) => running.get(modelId)?.streamId === streamId,
    onProgress(progress) {
      const deploy = running.get(progress.model_id);
      if (deploy === undefined) return;
      deploy.restartTimeout();
      const { status } = progress;
      // A reported failure ends the deployment; ready comes only with the response, which contains the port.
      if (status === 'failed') deploy.controller.abort(progress.message ?? 'the agent failed');
      if (status === 'failed' || status === 'ready') return;
      for (const streamId of deploy.listeners)
        void streams.push({ ...progress, status, stream_id: streamId, agent_id: agentId });
    },
    cancel: (modelId, reason) => running.get(modelId)?.controller.abort(reason),
  };
}

const nameTaken = (modelId: string): string =>
  `the backend '${agentBackendName(modelId)}' was registered by an operator; remove it before you deploy the model`;

const newRun = (streamId: string): RunningDeploy => ({
  streamId,
  listeners: new Set([streamId]),
  controller: new AbortController(),
  restartTimeout: () => undefined,
});

const readyNotice = (streamId: string, agentId: string, modelId: string) => ({
  stream_id: streamId,
  agent_id: agentId,
  model_id: modelId,
  status: 'ready' as const,
  progress: 100,
});
