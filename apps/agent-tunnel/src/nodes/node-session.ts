import { AGENT_CLOSE_CODES, type AgentHeartbeat, type AgentHello } from '@model-gateway/contracts';
import {
  createDeferred,
  createSequence,
  describeError,
  newId,
  type Subscription,
} from '@model-gateway/kernel';
import {
  agentAliveKey,
  onlineSince,
  type AuthenticatedAgent,
  type NodeConnection,
} from '@model-gateway/router';
import type { Exchange } from '@model-gateway/tunnel';
import type { WebSocket } from 'ws';
import { createAgentLink } from './agent-link.ts';
import { createConnectedNode, type ConnectedNode } from './connected-node.ts';
import { nodeAddress, type NodeAddress, type NodePeer } from './node-address.ts';
import { telemetryOf } from './telemetry.ts';
import type { TunnelDependencies } from '../tunnel-dependencies.ts';

/** The connection of one node, from the upgrade until it is removed from the stores. */
export interface NodeSession extends NodeConnection {
  /** Whether the hello of the node was accepted. */
  readonly isConnected: boolean;
  /** Opens an HTTP exchange with the node. */
  openExchange(head: unknown): Exchange;
  readonly exchanges: number;
  /** Checks whether its models still respond where they were located. */
  recheck(): void;
  /** According to the database, another connection or none owns the node. */
  onLost(): void;
  /** Asks the node to connect to another replica within a time limit, if it supports that. */
  move(withinMs: number): void;
  /** Whether it can be closed without losing requests: none is in progress and none is expected. */
  mayEnd(): boolean;
  close(code: number, reason: string): void;
  /** Resolves when the node has disconnected and is removed from the stores. */
  readonly ended: Promise<void>;
}

/** A node whose token is valid. */
export interface AcceptedNode extends AuthenticatedAgent {
  readonly peer: NodePeer;
  /** The URL at which gateways reach this process. */
  readonly origin: string;
}

interface NodeSessionOptions extends AcceptedNode {
  readonly socket: WebSocket;
}

const CLOSE_TRY_AGAIN = 1013;
/** How long the other replica may take to publish the new location of the models; until then gateways use this one. */
const MOVED_LINGER_MS = 2_000;

/** A node that was asked to reconnect until a time, and when it did. */
interface MovingNode {
  readonly until: number;
  doneAt: number | undefined;
}

export function createNodeSession(
  dependencies: TunnelDependencies,
  { socket, agentId, hosts, peer, origin }: NodeSessionOptions,
): NodeSession {
  const { agents, connections, commands, heartbeats, streams, announcer, entries } = dependencies;
  const { clock, heartbeatMs, timeoutMs } = dependencies;
  const ids: NodeConnection = { agentId, connectionId: newId() };
  const log = dependencies.log.child({ ...ids });
  const sequence = createSequence();
  const since = (): Date => onlineSince(clock.now(), timeoutMs);
  let node: ConnectedNode | undefined;
  let subscription: Subscription | undefined;
  let isOver = false;
  let moving: MovingNode | undefined;
  const { promise: ended, resolve: markEnded } = createDeferred();

  const link = createAgentLink({
    socket,
    agentId,
    heartbeatMs,
    timeoutMs,
    allowance: dependencies.allowances.of(agentId),
    onRefused: () => dependencies.onRefused(),
    onDelayed: () => dependencies.onDelayed(),
    log: dependencies.log,
    events: {
      onHello: (hello) => void sequence.run(() => acceptHello(hello)).catch(onHelloFailed),
      onHeartbeat,
      onProgress: (progress) => node?.deploys.onProgress(progress),
      isDeploying: (streamId, modelId) => node?.deploys.isRunning(streamId, modelId) ?? false,
      onClosed(reason) {
        isOver = true;
        log.info({ reason }, 'an agent disconnected');
        void sequence.run(disconnect).then(markEnded);
      },
    },
  });

  function onHelloFailed(error: unknown): void {
    log.warn({ reason: describeError(error) }, 'accepting an agent failed');
    link.close(CLOSE_TRY_AGAIN, 'try again later');
  }

  /** False when the node was deregistered in the meantime. */
  async function claim(
    { hello, address, models }: ConnectedNode,
    modelIds: readonly string[],
  ): Promise<boolean> {
    const claimed = await connections.claim(
      {
        ...ids,
        ...telemetryOf(hello, clock.now()),
        version: hello.version,
        host: address.host,
        processId: dependencies.processId,
        modelIds,
      },
      { onlineSince: since() },
    );
    if (claimed === undefined) return false;
    await entries.put(agentAliveKey(agentId), ids.connectionId, { expiresAfterMs: timeoutMs });
    const { previous, deployed, deploys, backends } = claimed;
    models.setDeployed(deployed);
    await announcer.announce(backends);
    for (const deploy of deploys) await streams.fail(deploy, 'the agent reconnected');
    if (previous !== null && previous !== ids.connectionId) disconnectPrevious(previous);
    return true;
  }

  /** A node that was asked to move is disconnected by the drain. */
  function onReplaced(): void {
    if (moving === undefined) link.close(AGENT_CLOSE_CODES.replaced, 'the agent was replaced');
    else moving.doneAt ??= performance.now();
  }

  function disconnectPrevious(previous: string): void {
    commands.send(previous, { kind: 'leave', why: 'replaced' }).catch((error: unknown) => {
      log.info({ reason: describeError(error) }, 'the previous connection was already closed');
    });
  }

  function addressOf({ host }: AgentHello): NodeAddress {
    const address = nodeAddress(host, hosts, peer);
    if (host && host !== address.host)
      log.warn(
        { host, calledAt: address.host },
        'ignored a host that is not allowed for the agent',
      );
    return address;
  }

  async function acceptHello(hello: AgentHello): Promise<void> {
    if (isOver) return;
    const connected = createConnectedNode(dependencies, {
      node: ids,
      hello,
      calls: link.calls,
      address: addressOf(hello),
      origin,
      disconnect(why) {
        if (why === 'replaced') onReplaced();
        else link.close(AGENT_CLOSE_CODES[why], `the agent was ${why}`);
      },
      onLost,
    });
    // Commands are served before the claim, so that every process that sees the connection can reach it.
    subscription = await commands.serve(ids.connectionId, (command) => connected.execute(command));
    const modelIds = hello.models.map(({ model_id }) => model_id);
    if (!(await claim(connected, modelIds)))
      return link.close(AGENT_CLOSE_CODES.deregistered, 'the agent was deregistered');
    node = connected;
    link.welcome({ agent_id: agentId, heartbeat_secs: heartbeatMs / 1000 });
    log.info({ version: hello.version, models: hello.models.length }, 'an agent connected');
    connected.models.report(hello.models);
  }

  function onHeartbeat(heartbeat: AgentHeartbeat): void {
    if (node === undefined) return;
    const telemetry = telemetryOf({ gpus: node.gpus, ...heartbeat }, clock.now());
    node.gpus = heartbeat.gpus ?? node.gpus;
    heartbeats.add({ ...ids, ...telemetry });
    if (heartbeat.models !== undefined) node.models.report(heartbeat.models);
  }

  /** Looks up which connection owns the node now. None means that it was marked offline too early. */
  async function reclaim(): Promise<void> {
    const current = await agents.find(agentId);
    if (isOver || node === undefined) return;
    if (current === undefined)
      return link.close(AGENT_CLOSE_CODES.deregistered, 'the agent was deregistered');
    const isFree = current.connectionId === null || current.connectionId === ids.connectionId;
    if (!isFree) return onReplaced();
    log.warn({}, 'an agent was marked offline while connected; claiming it again');
    if (await claim(node, node.models.ids())) await node.models.save();
  }

  function onLost(): void {
    sequence.run(reclaim).catch((error: unknown) => {
      log.warn({ reason: describeError(error) }, 'agent ownership lookup failed');
    });
  }

  async function disconnect(): Promise<void> {
    heartbeats.discard(ids.connectionId);
    try {
      await subscription?.close();
      const removal = await connections.disconnect(ids, { onlineSince: since() });
      await entries.removeIf(agentAliveKey(agentId), ids.connectionId);
      if (removal === undefined) return;
      await announcer.announce(removal.backends);
      for (const deploy of removal.deploys) await streams.fail(deploy, 'the agent disconnected');
    } catch (error) {
      // Missing heartbeats mark the node offline instead.
      log.warn({ reason: describeError(error) }, 'storing the disconnect of an agent failed');
    }
  }

  return {
    ...ids,
    get isConnected() {
      return node !== undefined && !isOver;
    },
    openExchange: (head) => link.openExchange(head),
    get exchanges() {
      return link.exchanges;
    },
    recheck: () => node?.models.recheck(),
    onLost,
    move(withinMs) {
      if (node?.hello.moves !== true || moving !== undefined) return;
      moving = { until: performance.now() + withinMs, doneAt: undefined };
      link.askToMove();
    },
    mayEnd() {
      if (link.exchanges > 0) return false;
      if (moving === undefined) return true;
      const { until, doneAt } = moving;
      return performance.now() > (doneAt === undefined ? until : doneAt + MOVED_LINGER_MS);
    },
    close: (code, reason) => link.close(code, reason),
    ended,
  };
}
