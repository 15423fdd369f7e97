import {
  AGENT_METHODS,
  HTTP_TUNNEL_VERSION,
  type AgentGpu,
  type AgentHello,
} from '@model-gateway/contracts';
import {
  onlineSince,
  type AgentCommand,
  type AgentCommandAnswer,
  type NodeConnection,
} from '@model-gateway/router';
import { NodeError, type AgentCalls } from './agent-calls.ts';
import { createDeploys, type Deploys } from '../models/deploys.ts';
import { createNodeModels, type NodeModels } from '../models/node-models.ts';
import { createModelLocator } from '../models/model-locator.ts';
import type { NodeAddress } from './node-address.ts';
import type { TunnelDependencies } from '../tunnel-dependencies.ts';

/** A node that has sent its hello: its state, and the commands for it. */
export interface ConnectedNode {
  readonly hello: AgentHello;
  readonly address: NodeAddress;
  /** The last reported GPUs. */
  gpus: readonly AgentGpu[];
  readonly models: NodeModels;
  readonly deploys: Deploys;
  /** Executes a command of another process. */
  execute(command: AgentCommand): Promise<AgentCommandAnswer>;
}

interface ConnectedNodeOptions {
  readonly node: NodeConnection;
  readonly hello: AgentHello;
  readonly calls: Pick<AgentCalls, 'call'>;
  readonly address: NodeAddress;
  readonly origin: string;
  readonly disconnect: (why: 'replaced' | 'deregistered') => void;
  readonly onLost: () => void;
}

/** Engines take a while to release their memory. */
const STOP_TIMEOUT_MS = 45_000;

export function createConnectedNode(
  dependencies: TunnelDependencies,
  options: ConnectedNodeOptions,
): ConnectedNode {
  const { connections, announcer, streams, clock, log, timeoutMs } = dependencies;
  const { node, hello, calls, address, origin, disconnect, onLost } = options;
  const models = createNodeModels({
    node,
    connections,
    announcer,
    locator: createModelLocator({
      agentId: node.agentId,
      host: address.isCallable ? address.host : undefined,
      canTunnel: dependencies.canTunnel && hello.tunnel === HTTP_TUNNEL_VERSION,
      origin,
      tunnelKey: dependencies.tunnelKey,
      clock,
      log,
    }),
    onlineSince: () => onlineSince(clock.now(), timeoutMs),
    defaultPort: hello.port ?? null,
    isDeploying: (modelId) => deploys.isDeploying(modelId),
    onLost,
    log,
  });
  const deploys: Deploys = createDeploys({
    node,
    connections,
    calls,
    streams,
    readyPort: (modelId) => models.readyPort(modelId),
    onReady: (modelId, port) => models.add(modelId, port),
    onFailed: (modelId) => models.refresh(modelId),
    log,
  });

  async function stop(modelId: string): Promise<AgentCommandAnswer> {
    deploys.cancel(modelId, 'the deployment was stopped');
    try {
      await models.remove(modelId, async () => {
        const controller = new AbortController();
        const onTimeout = () => controller.abort('the agent did not stop the model in time');
        const timer = setTimeout(onTimeout, STOP_TIMEOUT_MS);
        await calls
          .call(AGENT_METHODS.stop, { model_id: modelId }, controller.signal)
          .finally(() => clearTimeout(timer));
      });
      return {};
    } catch (error) {
      if (error instanceof NodeError) return { refusal: error.message };
      throw error;
    }
  }

  return {
    hello,
    address,
    gpus: hello.gpus,
    models,
    deploys,
    async execute(command) {
      switch (command.kind) {
        case 'deploy':
          return deploys.begin(command.modelId, command.streamId);
        case 'stop':
          return stop(command.modelId);
        case 'leave':
          disconnect(command.why);
          return {};
      }
    },
  };
}
