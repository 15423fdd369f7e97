import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { AGENT_FRAME_BYTES_MAX } from '@model-gateway/contracts';
import { bearerOf, type ClientIp } from '@model-gateway/http';
import { describeError, sha256Hex, type Log } from '@model-gateway/kernel';
import type { AgentConnections } from '@model-gateway/router';
import { WebSocketServer } from 'ws';
import { originOf } from './origin.ts';
import type { NodeRegistry } from './registry.ts';

/** `GET /ws/agent`: lets nodes in that show their token. */
export interface Door {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The node whose token a request shows. Rejects when the database cannot be asked. */
  authenticate(request: IncomingMessage): Promise<string | undefined>;
  close(): void;
}

interface DoorDependencies {
  readonly connections: Pick<AgentConnections, 'authenticate'>;
  readonly registry: Pick<NodeRegistry, 'add'>;
  readonly clientIp: ClientIp;
  /** Where gateways reach this process, where its operator says it. */
  readonly origin: string | undefined;
  readonly log: Log;
}

export function createDoor(dependencies: DoorDependencies): Door {
  const { connections, registry, clientIp, log } = dependencies;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: AGENT_FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  let isClosed = false;

  async function authenticate(request: IncomingMessage): Promise<string | undefined> {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const token = bearerOf(request) ?? query.get('token') ?? '';
    return token === '' ? undefined : connections.authenticate(sha256Hex(token));
  }

  async function letIn(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const agentId = await authenticate(request);
    if (agentId === undefined) {
      log.warn({ clientIp: clientIp(request) }, 'an agent without a valid token was turned away');
      return refuse(socket, '401 Unauthorized', 'unknown agent token');
    }
    if (isClosed) return refuse(socket, '503 Service Unavailable', 'the service stops');
    const node = {
      agentId,
      remoteAddress: plainAddress(clientIp(request)),
      origin: dependencies.origin ?? originOf(request.socket),
    };
    server.handleUpgrade(request, socket, head, (opened) => registry.add(opened, node));
  }

  return {
    authenticate,
    upgrade(request, socket, head) {
      letIn(request, socket, head).catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'an agent could not be let in');
        refuse(socket, '503 Service Unavailable', 'try again later');
      });
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      server.close();
    },
  };
}

function refuse(socket: Duplex, status: string, text: string): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

/** An IPv4 address that came in over IPv6, as itself. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
