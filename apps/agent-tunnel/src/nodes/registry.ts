import type { WebSocket } from 'ws';
import { createNodeSession, type AcceptedNode, type NodeSession } from './node-session.ts';
import type { TunnelDependencies } from '../tunnel-dependencies.ts';

/** The nodes that are connected to this process. */
export interface NodeRegistry {
  /** Adds the connection of an authenticated node. */
  add(socket: WebSocket, node: AcceptedNode): void;
  /** The newest connected session of a node. */
  get(agentId: string): NodeSession | undefined;
  /** According to the database, this connection no longer owns its node. */
  onLost(connectionId: string): void;
  readonly size: number;
  /** How many HTTP exchanges are in progress. */
  readonly exchanges: number;
  /**
   * Closes the connection of every node once it has no request in progress, or after the time limit. With `moveMs` above
   * 0, nodes are first asked to connect to another replica.
   */
  drain(moveMs: number): void;
  /** Closes every connection; resolves when all nodes have disconnected. */
  stop(): Promise<void>;
}

const RECHECK_MS = 30_000;
const CLOSE_GOING_AWAY = 1001;
/** One second less than the time limit of connections, so that waiting clients still get an error. */
const DRAIN_MS = 29_000;
const DRAIN_CHECK_MS = 100;

export function createNodeRegistry(dependencies: TunnelDependencies): NodeRegistry {
  const sessions = new Map<string, NodeSession>();
  /** A node has several sessions only while one replaces another. */
  const byAgent = new Map<string, readonly NodeSession[]>();
  const recheck = setInterval(() => {
    for (const session of sessions.values()) session.recheck();
  }, RECHECK_MS);
  recheck.unref();

  let draining: NodeJS.Timeout | undefined;

  const closeSession = (session: NodeSession): void =>
    session.close(CLOSE_GOING_AWAY, 'the service is stopping');

  function remove(session: NodeSession): void {
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
      void session.ended.then(() => remove(session));
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
          if (isLate || session.mayEnd()) closeSession(session);
      };
      if (moveMs > 0) for (const session of sessions.values()) session.move(moveMs);
      closeIdle();
      draining ??= setInterval(closeIdle, DRAIN_CHECK_MS);
    },
    async stop() {
      clearInterval(recheck);
      clearInterval(draining);
      const leaving = [...sessions.values()];
      for (const session of leaving) closeSession(session);
      await Promise.all(leaving.map(({ ended }) => ended));
    },
  };
}
