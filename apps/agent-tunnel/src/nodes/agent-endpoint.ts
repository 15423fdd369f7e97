import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { AGENT_FRAME_BYTES_MAX } from '@model-gateway/contracts';
import { bearerOf, type ClientIp } from '@model-gateway/http';
import { describeError, sha256Hex, type Log } from '@model-gateway/kernel';
import type { AgentConnections, AuthenticatedAgent } from '@model-gateway/router';
import { WebSocketServer } from 'ws';
import { originOf } from './origin.ts';
import type { NodeRegistry } from './registry.ts';

/** `GET /ws/agent`: accepts connections of nodes with a valid token. */
export interface AgentEndpoint {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The agent of the token in a request. Rejects when the database is unavailable. */
  authenticate(request: IncomingMessage): Promise<AuthenticatedAgent | undefined>;
  close(): void;
}

interface AgentEndpointDependencies {
  readonly connections: Pick<AgentConnections, 'authenticate'>;
  readonly registry: Pick<NodeRegistry, 'add'>;
  readonly clientIp: ClientIp;
  /** The configured URL at which gateways reach this process. */
  readonly origin: string | undefined;
  readonly log: Log;
}

const RETRY_SECS = 5;

export function createAgentEndpoint(dependencies: AgentEndpointDependencies): AgentEndpoint {
  const { connections, registry, clientIp, log } = dependencies;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: AGENT_FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  let isClosed = false;

  async function authenticate(request: IncomingMessage): Promise<AuthenticatedAgent | undefined> {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const token = bearerOf(request) ?? query.get('token') ?? '';
    return token === '' ? undefined : connections.authenticate(sha256Hex(token));
  }

  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const agent = await authenticate(request);
    if (agent === undefined) {
      log.warn({ clientIp: clientIp(request) }, 'refused an agent without a valid token');
      return refuse(socket, '401 Unauthorized', 'unknown agent token');
    }
    if (isClosed) return refuseForNow(socket, 'the service is stopping');
    const address = plainAddress(clientIp(request));
    const isForwarded = address !== plainAddress(request.socket.remoteAddress ?? '');
    const node = {
      ...agent,
      peer: { address, isForwarded },
      origin: dependencies.origin ?? originOf(request.socket),
    };
    server.handleUpgrade(request, socket, head, (opened) => registry.add(opened, node));
  }

  return {
    authenticate,
    upgrade(request, socket, head) {
      accept(request, socket, head).catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'accepting an agent failed');
        refuseForNow(socket, 'try again later');
      });
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      server.close();
    },
  };
}

const refuseForNow = (socket: Duplex, text: string): void =>
  refuse(socket, '503 Service Unavailable', text, `retry-after: ${RETRY_SECS}\r\n`);

function refuse(socket: Duplex, status: string, text: string, more = ''): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n${more}` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

/** An IPv4-mapped IPv6 address as IPv4. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
