import type { WebSocket } from 'ws';
import { createNodeSession, type NodeSession } from './node-session.ts';
import type { TunnelDependencies } from './tunnel-dependencies.ts';

/** The nodes that are connected to this process. */
export interface NodeRegistry {
  /** Takes over the connection of a node that has shown its token. */
  add(
    socket: WebSocket,
    node: { readonly agentId: string; readonly remoteAddress: string; readonly origin: string },
  ): void;
  /** The newest connection of a node that was let in. */
  get(agentId: string): NodeSession | undefined;
  /** The database says that this connection lost its node. */
  onLost(connectionId: string): void;
  readonly size: number;
  /** How many HTTP exchanges pass through. */
  readonly exchanges: number;
  /**
   * Says goodbye to every node once no request passes through to it, or the time is up. With a time for it, nodes are asked to go
   * to another replica first.
   */
  drain(moveMs: number): void;
  /** Says goodbye to every node now; resolves when all have left. */
  stop(): Promise<void>;
}

const RECHECK_MS = 30_000;
const CLOSE_GOING_AWAY = 1001;
/** A second less than connections are given, so that whoever waits for an answer is told. */
const DRAIN_MS = 29_000;
const DRAIN_CHECK_MS = 100;

export function createNodeRegistry(dependencies: TunnelDependencies): NodeRegistry {
  const sessions = new Map<string, NodeSession>();
  /** Several only while one replaces another. */
  const byAgent = new Map<string, readonly NodeSession[]>();
  const recheck = setInterval(() => {
    for (const session of sessions.values()) session.recheck();
  }, RECHECK_MS);
  recheck.unref();

  let draining: NodeJS.Timeout | undefined;

  const sayGoodbye = (session: NodeSession): void =>
    session.close(CLOSE_GOING_AWAY, 'the service stops');

  function forget(session: NodeSession): void {
    sessions.delete(session.connectionId);
    const others = (byAgent.get(session.agentId) ?? []).filter((other) => other !== session);
    if (others.length > 0) byAgent.set(session.agentId, others);
    else byAgent.delete(session.agentId);
  }

  return {
    add(socket, node) {
      const session = createNodeSession(dependencies, { socket, ...node });
      sessions.set(session.connectionId, session);
      byAgent.set(session.agentId, [...(byAgent.get(session.agentId) ?? []), session]);
      void session.ended.then(() => forget(session));
    },
    get: (agentId) => byAgent.get(agentId)?.findLast(({ isConnected }) => isConnected),
    onLost: (connectionId) => sessions.get(connectionId)?.onLost(),
    get size() {
      return sessions.size;
    },
    get exchanges() {
      return [...sessions.values()].reduce((sum, { exchanges }) => sum + exchanges, 0);
    },
    drain(moveMs) {
      const deadline = performance.now() + DRAIN_MS;
      const closeIdle = (): void => {
        const isLate = performance.now() > deadline;
        for (const session of sessions.values())
          if (isLate || session.mayEnd()) sayGoodbye(session);
      };
      if (moveMs > 0) for (const session of sessions.values()) session.move(moveMs);
      closeIdle();
      draining ??= setInterval(closeIdle, DRAIN_CHECK_MS);
    },
    async stop() {
      clearInterval(recheck);
      clearInterval(draining);
      const leaving = [...sessions.values()];
      for (const session of leaving) sayGoodbye(session);
      await Promise.all(leaving.map(({ ended }) => ended));
    },
  };
}
