import { createServer as createHttpServer, request as sendRequest, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import type { Certificate } from './certificate.ts';

/** A little proxy that writes down what goes through it. */
export interface Proxy {
  readonly port: number;
  /** Such as `GET http://…` or `CONNECT host:port`, with the credentials that were sent. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

interface ProxyOptions {
  /** The name that stands for the mirror; only the proxy can look it up. */
  readonly knownName?: string;
  readonly certificate?: Certificate;
}

const HOME = '127.0.0.1';

/** Forwards plain requests by their whole URL and opens tunnels with CONNECT; over TLS where it has a certificate. */
export async function startHttpProxy({
  knownName,
  certificate,
}: ProxyOptions = {}): Promise<Proxy> {
  const seen: string[] = [];
  const hostOf = (name: string): string => (name === knownName ? HOME : name);
  const server: Server =
    certificate === undefined
      ? createHttpServer()
      : createHttpsServer({ key: certificate.key, cert: certificate.certificate });
  const credentials = (header: string | undefined): string =>
    header === undefined
      ? ''
      : ` ${Buffer.from(header.replace(/^Basic /, ''), 'base64').toString()}`;
  server.on('request', (request, response) => {
    const target = new URL(request.url ?? '');
    seen.push(
      `${request.method} ${target.href}${credentials(request.headers['proxy-authorization'])}`,
    );
    const options = { host: hostOf(target.hostname), port: target.port, path: target.pathname };
    const onward = sendRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    onward.end();
  });
  server.on('connect', (request, socket: Socket) => {
    const [host = '', port = ''] = (request.url ?? '').split(':');
    seen.push(`CONNECT ${request.url}${credentials(request.headers['proxy-authorization'])}`);
    tunnel(socket, hostOf(host), Number(port), 'HTTP/1.1 200 OK\r\n\r\n');
  });
  return listen(server, seen);
}

/** SOCKS 5, by name or by address, with or without a password. */
export async function startSocksProxy({ knownName }: ProxyOptions = {}): Promise<Proxy> {
  const seen: string[] = [];
  const server = createTcpServer((socket) => {
    void serveSocks(socket, seen, knownName).catch(() => socket.destroy());
  });
  return listen(server, seen);
}

async function serveSocks(
  socket: Socket,
  seen: string[],
  knownName: string | undefined,
): Promise<void> {
  const greeting = await nextBytes(socket);
  const wantsPassword = greeting.subarray(2).includes(2);
  socket.write(Buffer.from([5, wantsPassword ? 2 : 0]));
  let credentials = '';
  if (wantsPassword) {
    const login = await nextBytes(socket);
    const userBytes = login[1] ?? 0;
    credentials = ` ${login.toString('utf8', 2, 2 + userBytes)}:${login.toString('utf8', 3 + userBytes)}`;
    socket.write(Buffer.from([1, 0]));
  }
  const wish = await nextBytes(socket);
  const isName = wish[3] === 3;
  const host = isName
    ? wish.toString('utf8', 5, 5 + (wish[4] ?? 0))
    : [...wish.subarray(4, 8)].join('.');
  const port = wish.readUInt16BE(wish.length - 2);
  seen.push(`SOCKS ${host}:${port}${credentials}`);
  const done = Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]);
  tunnel(socket, host === knownName ? HOME : host, port, done);
}

function nextBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    socket.once('data', resolve);
    socket.once('error', reject);
  });
}

function tunnel(socket: Socket, host: string, port: number, opened: string | Buffer): void {
  const onward = connect(port, host, () => {
    socket.write(opened);
    socket.pipe(onward).pipe(socket);
  });
  onward.on('error', () => socket.destroy());
  socket.on('error', () => onward.destroy());
}

async function listen(server: ReturnType<typeof createTcpServer>, seen: string[]): Promise<Proxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, HOME, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
