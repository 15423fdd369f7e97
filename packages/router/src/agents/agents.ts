import { ServiceError } from '@model-gateway/contracts';
import { describeError, randomToken, sha256Hex, type Clock, type Log } from '@model-gateway/kernel';
import type { BackendAnnouncer } from '../registry/backend-announcer.ts';
import { AgentUnreachable, type AgentCommands } from './agent-commands.ts';
import { byLoad, isOnline, onlineSince, type AgentNode } from './agent-node.ts';
import type { AgentPage, AgentStore } from './agent-store.ts';
import type { DeployNotices } from './deploy-notices.ts';

/** A node and whether it is online now. */
export interface AgentState extends AgentNode {
  readonly isOnline: boolean;
}

/** Manages the GPU nodes of the installation. */
export interface Agents {
  /** By name. */
  list(page: AgentPage): Promise<readonly AgentState[]>;
  get(agentId: string): Promise<AgentState>;
  /** The token is shown only once. */
  register(node: {
    readonly name: string;
    readonly version: string;
    /** The hosts that it may name as its own. */
    readonly hosts: readonly string[];
  }): Promise<{ readonly agentId: string; readonly token: string }>;
  deregister(agentId: string): Promise<void>;
  /** Starts a deployment, on the least loaded node unless one is named; progress is published on the stream. */
  deploy(deployment: {
    readonly modelId: string;
    readonly agentId: string | undefined;
    readonly streamId: string;
    /** What the model can do; undefined for what was declared before, or else for chat and embeddings. */
    readonly capabilities?: readonly string[] | undefined;
  }): Promise<void>;
  /** Resolves when the model is gone from the node. */
  stop(agentId: string, modelId: string): Promise<void>;
}

interface AgentsDependencies {
  readonly store: AgentStore;
  readonly commands: Pick<AgentCommands, 'send'>;
  readonly announcer: BackendAnnouncer;
  readonly notices: Pick<DeployNotices, 'fail'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
}

const TOKEN_PREFIX = 'agt-';
const TOKEN_BYTES = 32;

export function createAgents(dependencies: AgentsDependencies): Agents {
  const { store, commands, announcer, notices, clock, log, timeoutMs } = dependencies;
  const since = (): Date => onlineSince(clock.now(), timeoutMs);
  const stateOf = (node: AgentNode): AgentState => ({ ...node, isOnline: isOnline(node, since()) });

  async function find(agentId: string): Promise<AgentState> {
    const node = await store.find(agentId);
    if (node === undefined) throw new ServiceError('not_found', 'agent not found');
    return stateOf(node);
  }

  async function findConnection(agentId: string): Promise<string> {
    const { isOnline: isThere, connectionId } = await find(agentId);
    if (!isThere || connectionId === null) throw new AgentUnreachable();
    return connectionId;
  }

  /** Tries the next node as long as nothing was begun. */
  async function deployOnLeastLoaded(modelId: string, streamId: string): Promise<void> {
    const online = (await store.list()).filter((node) => isOnline(node, since()));
    for (const { connectionId } of byLoad(online)) {
      if (connectionId === null) continue;
      try {
        await commands.send(connectionId, { kind: 'deploy', modelId, streamId });
        return;
      } catch (error) {
        if (!(error instanceof AgentUnreachable)) throw error;
      }
    }
    throw new ServiceError('agent_unavailable', 'no online agents available for deployment');
  }

  return {
    list: async (page) => (await store.list(page)).map(stateOf),
    get: find,
    async register({ name, version, hosts }) {
      const token = `${TOKEN_PREFIX}${randomToken(TOKEN_BYTES)}`;
      const { id } = await store.register({ name, version, hosts, tokenHash: sha256Hex(token) });
      return { agentId: id, token };
    },
    async deregister(agentId) {
      const removed = await store.remove(agentId, { onlineSince: since() });
      if (removed === undefined) throw new ServiceError('not_found', 'agent not found');
      const { connectionId, deploys, backends } = removed;
      await announcer.announce(backends);
      for (const deploy of deploys) await notices.fail(deploy, 'the agent was deregistered');
      if (connectionId === null) return;
      // A process that misses this notices at its next heartbeat.
      await commands
        .send(connectionId, { kind: 'leave', why: 'deregistered' })
        .catch((error: unknown) =>
          log.info({ agentId, reason: describeError(error) }, 'disconnecting an agent failed'),
        );
    },
    async deploy({ modelId, agentId, streamId, capabilities }) {
      if (capabilities !== undefined) await store.declareCapabilities(modelId, capabilities);
      if (agentId === undefined) return deployOnLeastLoaded(modelId, streamId);
      await commands.send(await findConnection(agentId), { kind: 'deploy', modelId, streamId });
    },
    async stop(agentId, modelId) {
      await commands.send(await findConnection(agentId), { kind: 'stop', modelId });
    },
  };
}
