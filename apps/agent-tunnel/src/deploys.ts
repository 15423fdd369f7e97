import { AGENT_METHODS, agentDeployedSchema, type AgentProgress } from '@model-gateway/contracts';
import { describeError, type Log } from '@model-gateway/kernel';
import type { AgentConnections, HeldAgent } from '@model-gateway/router';
import { NodeError, type AgentCalls } from './agent-calls.ts';
import type { ProgressStreams } from './progress-streams.ts';

/** The deployments that are under way on one node. */
export interface Deploys {
  /** Begins one, or lets a stream listen to the one that is under way; answers why it cannot be. */
  begin(modelId: string, streamId: string): Promise<{ readonly refusal?: string }>;
  isRunning(streamId: string, modelId: string): boolean;
  onProgress(progress: AgentProgress): void;
  /** Ends a deployment of this model, if there is one. */
  cancel(modelId: string, reason: string): void;
}

interface DeploysDependencies {
  readonly held: HeldAgent;
  readonly connections: Pick<AgentConnections, 'beginDeploy' | 'endDeploy'>;
  readonly calls: Pick<AgentCalls, 'call'>;
  readonly streams: ProgressStreams;
  /** The port of a model that the node has ready. */
  readonly readyPort: (modelId: string) => number | undefined;
  /** Puts the model into service; rejects with a NodeError when it cannot be reached. */
  readonly onReady: (modelId: string, port: number) => Promise<void>;
  readonly log: Log;
  readonly silenceMsMax?: number;
}

interface Running {
  /** The stream that the node was told; its progress names it. */
  readonly streamId: string;
  readonly listeners: Set<string>;
  readonly controller: AbortController;
  prolong: () => void;
}

/** A node that reports nothing for so long has failed. */
const SILENCE_MS_MAX = 300_000;
const RUNNING_MAX = 32;
const LISTENERS_MAX = 64;

export function createDeploys(dependencies: DeploysDependencies): Deploys {
  const { held, connections, calls, streams, readyPort, onReady, log } = dependencies;
  const { silenceMsMax = SILENCE_MS_MAX } = dependencies;
  const { agentId } = held;
  const running = new Map<string, Running>();

  async function askNode(modelId: string, deploy: Running): Promise<number> {
    const known = readyPort(modelId);
    if (known !== undefined) return known;
    const params = { model_id: modelId, stream_id: deploy.streamId };
    const answer = agentDeployedSchema.safeParse(
      await calls.call(AGENT_METHODS.deploy, params, {
        timeoutMs: silenceMsMax,
        late: `the agent reported nothing for ${silenceMsMax / 1000} seconds`,
        signal: deploy.controller.signal,
        onStarted(prolong) {
          deploy.prolong = prolong;
        },
      }),
    );
    if (!answer.success) throw new NodeError('the agent answered without a port');
    return answer.data.port;
  }

  /** The database says which streams are owed the end, so that exactly one process tells them. */
  async function streamsOwed(modelId: string, deploy: Running): Promise<readonly string[]> {
    try {
      return await connections.endDeploy(agentId, modelId);
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'the end of a deployment was not written down');
      return [...deploy.listeners];
    }
  }

  async function run(modelId: string, deploy: Running): Promise<void> {
    let failure: string | undefined;
    try {
      await onReady(modelId, await askNode(modelId, deploy));
    } catch (error) {
      failure = error instanceof NodeError ? error.message : 'the deployment failed';
      log.warn({ agentId, modelId, reason: describeError(error) }, 'a deployment failed');
    }
    running.delete(modelId);
    const owed = await streamsOwed(modelId, deploy);
    if (failure !== undefined) return streams.fail({ agentId, modelId, streams: owed }, failure);
    log.info({ agentId, modelId }, 'a model was deployed');
    for (const streamId of owed) await streams.push(readyNotice(streamId, agentId, modelId));
  }

  /** Writes down that the stream is owed the end. */
  async function note(modelId: string, streamId: string, deploy: Running): Promise<boolean> {
    let isNoted = false;
    try {
      isNoted = await connections.beginDeploy(held, modelId, streamId);
    } finally {
      if (!isNoted) deploy.listeners.delete(streamId);
      if (deploy.listeners.size === 0 && running.get(modelId) === deploy) running.delete(modelId);
    }
    return isNoted;
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
        return { refusal: `${RUNNING_MAX} deployments are under way on this agent already` };
      if (existing !== undefined && existing.listeners.size >= LISTENERS_MAX)
        return { refusal: 'this model is being deployed already' };
      const deploy = existing ?? newRun(streamId);
      running.set(modelId, deploy);
      deploy.listeners.add(streamId);
      if (!(await note(modelId, streamId, deploy))) return { refusal: 'the agent is offline' };
      streams.open(streamId);
      if (existing === undefined) void run(modelId, deploy);
      else if (running.get(modelId) !== existing) rerun(modelId, streamId);
      return {};
    },
    isRunning: (streamId, modelId) => running.get(modelId)?.streamId === streamId,
    onProgress(progress) {
      const deploy = running.get(progress.model_id);
      if (deploy === undefined) return;
      deploy.prolong();
      const { status } = progress;
      // That it failed is believed at once; that it is ready only with its answer, which brings the port.
      if (status === 'failed') deploy.controller.abort(progress.message ?? 'the agent failed');
      if (status === 'failed' || status === 'ready') return;
      for (const streamId of deploy.listeners)
        void streams.push({ ...progress, status, stream_id: streamId, agent_id: agentId });
    },
    cancel: (modelId, reason) => running.get(modelId)?.controller.abort(reason),
  };
}

const newRun = (streamId: string): Running => ({
  streamId,
  listeners: new Set([streamId]),
  controller: new AbortController(),
  prolong: () => undefined,
});

const readyNotice = (streamId: string, agentId: string, modelId: string) => ({
  stream_id: streamId,
  agent_id: agentId,
  model_id: modelId,
  status: 'ready' as const,
  progress: 100,
});
