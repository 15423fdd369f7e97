// The reference: a bare proxy of node:http and undici that looks up a key, asks Redis to admit each request, and notes its usage.
//   node metered-proxy.ts PORT UPSTREAM_ORIGIN REDIS_PORT KEY
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Redis } from 'ioredis';
import { Pool } from 'undici';

const EVENTS_KEPT = 10_000;
const CONNECTIONS_MAX = 2048;
const ADMIT = `
local used = redis.call('INCR', KEYS[1])
if used == 1 then redis.call('EXPIRE', KEYS[1], 60) end
return used <= 1000000000 and 1 or 0`;

const [port, origin = '', redisPort, key = ''] = process.argv.slice(2);
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const users = new Map([[hashOf(key), 'bench']]);
const redis = new Redis(Number(redisPort), '127.0.0.1', { enableAutoPipelining: true });
const pool = new Pool(origin, { connections: CONNECTIONS_MAX, pipelining: 1 });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => void answer(request, Buffer.concat(chunks), response));
});

async function answer(
  { url = '', headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const user = users.get(hashOf(headers.authorization?.slice('Bearer '.length) ?? ''));
  if (user === undefined) return void response.writeHead(401).end();
  if ((await redis.eval(ADMIT, 1, `limit:${user}`)) !== 1)
    return void response.writeHead(429).end();
  const { model } = JSON.parse(body.toString()) as { readonly model: string };
  pool.dispatch(
    { path: url, method: 'POST', body, headers: { 'content-type': 'application/json' } },
    {
      onRequestStart: () => undefined,
      onResponseStart(_controller, status, { 'content-type': type }) {
        response.writeHead(status, { 'content-type': String(type) });
      },
      onResponseData(controller, chunk) {
        if (response.write(chunk)) return;
        controller.pause();
        response.once('drain', () => controller.resume());
      },
      onResponseEnd() {
        const event = JSON.stringify({ user, model, at: Date.now() });
        void redis.xadd('usage', 'MAXLEN', '~', EVENTS_KEPT, '*', 'event', event);
        response.end();
      },
      onResponseError: () => void response.destroy(),
    },
  );
}

// Several processes may share the port.
server.listen({ port: Number(port), host: '127.0.0.1', reusePort: true });
process.once('SIGTERM', () => process.exit(0));
