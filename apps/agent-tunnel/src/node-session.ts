import { AGENT_CLOSE_CODES, type AgentHeartbeat, type AgentHello } from '@model-gateway/contracts';
import { describeError, newId, type Subscription } from '@model-gateway/kernel';
import { agentAliveKey, onlineSince, type HeldAgent } from '@model-gateway/router';
import type { Exchange } from '@model-gateway/tunnel';
import type { WebSocket } from 'ws';
import { createAgentLink } from './agent-link.ts';
import { createConnectedNode, type ConnectedNode } from './connected-node.ts';
import { createSequence } from './sequence.ts';
import { telemetryOf } from './telemetry.ts';
import type { TunnelDependencies } from './tunnel-dependencies.ts';

/** The connection of one node, from the upgrade until it is gone from the stores. */
export interface NodeSession extends HeldAgent {
  /** Whether the node has said hello and was let in. */
  readonly isConnected: boolean;
  /** Opens an HTTP exchange with the node. */
  openExchange(head: unknown): Exchange;
  readonly exchanges: number;
  /** Looks whether its models are still where they were found. */
  recheck(): void;
  /** The database says that the node is not this connection's. */
  onLost(): void;
  /** Asks the node to go to another replica within a time, if it can do so without a gap. */
  move(withinMs: number): void;
  /** Whether nothing is lost when it is closed now: no request passes through, and none is to be expected. */
  mayEnd(): boolean;
  close(code: number, reason: string): void;
  /** Resolves when the node has left, also in the stores. */
  readonly ended: Promise<void>;
}

interface NodeSessionOptions {
  readonly socket: WebSocket;
  readonly agentId: string;
  readonly remoteAddress: string;
  /** Where gateways reach this very process. */
  readonly origin: string;
}

const CLOSE_TRY_AGAIN = 1013;
/** How long the other replica may take to tell where the models are now; until then gateways ask here. */
const MOVED_LINGER_MS = 2_000;

/** A node that was asked to connect anew until a time, and since when it is connected elsewhere. */
interface MovingNode {
  readonly until: number;
  doneAt: number | undefined;
}

export function createNodeSession(
  dependencies: TunnelDependencies,
  { socket, agentId, remoteAddress, origin }: NodeSessionOptions,
): NodeSession {
  const { agents, connections, commands, heartbeats, streams, announcer, entries } = dependencies;
  const { clock, heartbeatMs, timeoutMs } = dependencies;
  const held: HeldAgent = { agentId, connectionId: newId() };
  const log = dependencies.log.child({ ...held });
  const sequence = createSequence();
  const since = (): Date => onlineSince(clock.now(), timeoutMs);
  let node: ConnectedNode | undefined;
  let subscription: Subscription | undefined;
  let isOver = false;
  let moving: MovingNode | undefined;
  let markEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    markEnded = resolve;
  });

  const link = createAgentLink({
    socket,
    agentId,
    heartbeatMs,
    timeoutMs,
    onRefused: () => dependencies.onRefused(),
    log: dependencies.log,
    events: {
      onHello: (hello) => void sequence.run(() => greet(hello)).catch(giveUp),
      onHeartbeat,
      onProgress: (progress) => node?.deploys.onProgress(progress),
      isDeploying: (streamId, modelId) => node?.deploys.isRunning(streamId, modelId) ?? false,
      onClosed(reason) {
        isOver = true;
        log.info({ reason }, 'an agent left');
        void sequence.run(leave).then(markEnded);
      },
    },
  });

  function giveUp(error: unknown): void {
    log.warn({ reason: describeError(error) }, 'an agent could not be let in');
    link.close(CLOSE_TRY_AGAIN, 'try again later');
  }

  /** False when the node was deregistered in the meantime. */
  async function claim(hello: AgentHello, modelIds: readonly string[]): Promise<boolean> {
    const host = hello.host ?? remoteAddress;
    const claimed = await connections.claim(
      {
        ...held,
        ...telemetryOf(hello, clock.now()),
        version: hello.version,
        host,
        modelIds,
      },
      { onlineSince: since() },
    );
    if (claimed === undefined) return false;
    await entries.put(agentAliveKey(agentId), held.connectionId, { expiresAfterMs: timeoutMs });
    const { previous, deploys, backends } = claimed;
    await announcer.announce(backends);
    for (const deploy of deploys) await streams.fail(deploy, 'the agent connected anew');
    if (previous !== null && previous !== held.connectionId) sendAway(previous);
    return true;
  }

  /** A node that was asked to move is let go by whoever asked. */
  function onReplaced(): void {
    if (moving === undefined) link.close(AGENT_CLOSE_CODES.replaced, 'the agent was replaced');
    else moving.doneAt ??= performance.now();
  }

  function sendAway(previous: string): void {
    commands.send(previous, { kind: 'leave', why: 'replaced' }).catch((error: unknown) => {
      log.info({ reason: describeError(error) }, 'the connection before was gone already');
    });
  }

  async function greet(hello: AgentHello): Promise<void> {
    if (isOver) return;
    const connected = createConnectedNode(dependencies, {
      held,
      hello,
      calls: link.calls,
      host: hello.host ?? remoteAddress,
      origin,
      leave(why) {
        if (why === 'replaced') onReplaced();
        else link.close(AGENT_CLOSE_CODES[why], `the agent was ${why}`);
      },
      onLost,
    });
    // Served before it is claimed: whoever learns of the connection can reach it.
    subscription = await commands.serve(held.connectionId, (command) => connected.obey(command));
    if (
      !(await claim(
        hello,
        hello.models.map(({ model_id }) => model_id),
      ))
    )
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
    heartbeats.note({ ...held, ...telemetry });
    if (heartbeat.models !== undefined) node.models.report(heartbeat.models);
  }

  /** Finds out whose the node is now. Nobody's means that it was given up too early. */
  async function reclaim(): Promise<void> {
    const current = await agents.find(agentId);
    if (isOver || node === undefined) return;
    if (current === undefined)
      return link.close(AGENT_CLOSE_CODES.deregistered, 'the agent was deregistered');
    const isFree = current.connectionId === null || current.connectionId === held.connectionId;
    if (!isFree) return onReplaced();
    log.warn({}, 'an agent had been given up and is taken back');
    if (await claim(node.hello, node.models.ids())) await node.models.save();
  }

  function onLost(): void {
    sequence.run(reclaim).catch((error: unknown) => {
      log.warn({ reason: describeError(error) }, 'it is not known whose an agent is');
    });
  }

  async function leave(): Promise<void> {
    heartbeats.forget(held.connectionId);
    try {
      await subscription?.close();
      const departure = await connections.leave(held, { onlineSince: since() });
      await entries.removeIf(agentAliveKey(agentId), held.connectionId);
      if (departure === undefined) return;
      await announcer.announce(departure.backends);
      for (const deploy of departure.deploys) await streams.fail(deploy, 'the agent left');
    } catch (error) {
      // Whoever routes finds out by the heartbeats that do not come.
      log.warn({ reason: describeError(error) }, 'the leaving of an agent was not written down');
    }
  }

  return {
    ...held,
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
