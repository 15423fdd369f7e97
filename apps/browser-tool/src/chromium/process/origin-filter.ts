import { randomBytes } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SocksProxyAgent } from 'socks-proxy-agent';
import { constantTimeEqual } from '@model-gateway/kernel';
import { proxyLogin, type ProxyLogin } from './proxy-login.ts';

/** A proxy of the tool, between the browser and the caller's proxy, that reaches only the allowed origins. */
export interface OriginFilter {
  readonly url: string;
  /** What the browser must send, because other users can connect to the port. */
  readonly login: ProxyLogin;
  close(): void;
}

interface FilterOptions {
  readonly proxy: string;
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK = '127.0.0.1';
const USER = 'browser';
const PASSWORD_BYTES = 24;
const HEADER_BYTES_MAX = 1024 * 1024;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
// These are about one connection, or for the filter.
const NOT_FORWARDED = [
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'transfer-encoding',
];

/** Starts the filter. It holds for everything that uses the network: frames, workers, WebSockets and WebRTC too. */
export async function startOriginFilter({
  proxy,
  allowedOrigins,
}: FilterOptions): Promise<OriginFilter> {
  const login = { username: USER, password: randomBytes(PASSWORD_BYTES).toString('base64url') };
  const expected = basic(login);
  const places = new Set(
    allowedOrigins.map((origin) => {
      const { hostname, port, protocol } = new URL(origin);
      return `${hostname}:${port || DEFAULT_PORTS[protocol]}`;
    }),
  );
  const upstream = connectThrough(proxy);
  const sockets = new Set<Duplex>();
  const mayUse = ({ headers }: IncomingMessage): boolean =>
    constantTimeEqual(headers['proxy-authorization'] ?? '', expected);

  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX, requestTimeout: 0 });
  server.on('request', (request, response) => {
    if (!mayUse(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="browser-tool"' }).end();
      return;
    }
    const { url = '' } = request;
    if (!URL.canParse(url) || !allowedOrigins.includes(new URL(url).origin)) {
      request.destroy();
      return;
    }
    const onward = upstream.request(request, forwarded(request));
    onward.on('response', (answer) => {
      const { statusCode = 502, statusMessage } = answer;
      response.writeHead(statusCode, statusMessage, forwarded(answer).flat());
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if (!mayUse(request)) {
      refuse(socket, 407, 'Basic realm="browser-tool"');
      return;
    }
    const place = request.url ?? '';
    if (!places.has(place)) {
      socket.destroy();
      return;
    }
    upstream.tunnel(place).then(
      (outcome) => {
        if ('status' in outcome) {
          refuse(socket, outcome.status, outcome.challenge);
          return;
        }
        const { onward } = outcome;
        onward.on('error', () => socket.destroy());
        onward.on('close', () => socket.destroy());
        socket.on('close', () => onward.destroy());
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.write(head);
        socket.pipe(onward).pipe(socket);
      },
      () => socket.destroy(),
    );
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${LOOPBACK}:${port}`,
    login,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

type Forwarded = readonly (readonly [name: string, value: string])[];

type TunnelOutcome =
  | { readonly onward: Socket }
  | { readonly status: number; readonly challenge: string | undefined };

/** How requests and tunnels go through the caller's proxy. */
function connectThrough(proxy: string) {
  const { protocol, hostname, port } = new URL(proxy);
  if (protocol.startsWith('socks')) {
    // The proxy resolves names.
    const agent = new SocksProxyAgent(proxy.replace(/^socks5:/i, 'socks5h:'));
    return {
      request: ({ url = '', method }: IncomingMessage, headers: Forwarded) =>
        httpRequest(url, {
          agent,
          method,
          headers: headers.flat(),
          maxHeaderSize: HEADER_BYTES_MAX,
        }),
      async tunnel(place: string): Promise<TunnelOutcome> {
        const at = place.lastIndexOf(':');
        const host = place.slice(0, at).replace(/^\[|\]$/g, '');
        // The agent ignores the request.
        const unused = httpRequest({ host: LOOPBACK, createConnection: () => undefined });
        unused.on('error', () => undefined);
        unused.destroy();
        const to = { host, port: Number(place.slice(at + 1)), secureEndpoint: false } as const;
        return { onward: await agent.connect(unused, to) };
      },
    };
  }
  const isSecure = protocol === 'https:';
  const send = isSecure ? httpsRequest : httpRequest;
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: port || (isSecure ? 443 : 80) };
  const login = proxyLogin(proxy);
  const own = login === undefined ? [] : ['proxy-authorization', basic(login)];
  return {
    request: ({ url, method }: IncomingMessage, headers: Forwarded) =>
      send({
        ...to,
        method,
        path: url,
        headers: [...headers.flat(), ...own],
        maxHeaderSize: HEADER_BYTES_MAX,
      }),
    tunnel: (place: string): Promise<TunnelOutcome> =>
      new Promise((resolve, reject) => {
        const request = send({
          ...to,
          method: 'CONNECT',
          path: place,
          headers: ['host', place, ...own],
        });
        request.on('connect', ({ statusCode = 502, headers }, onward) => {
          if (statusCode === 200) {
            resolve({ onward });
            return;
          }
          onward.destroy();
          resolve({ status: statusCode, challenge: headers['proxy-authenticate']?.[0] });
        });
        request.on('error', reject);
        request.end();
      }),
  };
}

function forwarded({ rawHeaders }: IncomingMessage): Forwarded {
  const kept: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!NOT_FORWARDED.includes(name.toLowerCase())) kept.push([name, value]);
  }
  return kept;
}

function refuse(socket: Duplex, status: number, challenge: string | undefined): void {
  const line = challenge === undefined ? '' : `Proxy-Authenticate: ${challenge}\r\n`;
  socket.end(`HTTP/1.1 ${status} Refused\r\n${line}Content-Length: 0\r\nConnection: close\r\n\r\n`);
}

function basic({ username, password }: ProxyLogin): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
