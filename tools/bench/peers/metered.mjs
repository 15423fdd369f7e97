// A minimal metered proxy in Node: the bare one, plus a key lookup in a map, one Redis round trip that admits the request, and one
// usage event in a stream.
//   node metered.mjs <port> <upstream origin> <redis url> <api key>
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { createForward } from './forward.mjs';

const EVENTS_KEPT = 10_000;
const WINDOW_SECONDS = 60;
const REQUESTS_MAX = 1_000_000_000;
const ADMIT = `
local used = redis.call('INCR', KEYS[1])
if used == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
if used > tonumber(ARGV[2]) then return 0 end
return 1`;

const require = createRequire(new URL('../../../packages/bus/package.json', import.meta.url));
const { Redis } = require('ioredis');

const [port, origin, redisUrl, apiKey] = process.argv.slice(2);
const hashOf = (secret) => createHash('sha256').update(secret).digest('hex');
const keys = new Map([[hashOf(apiKey), { userId: 'bench' }]]);
const forward = createForward(origin);
const redis = new Redis(redisUrl, {
  enableAutoPipelining: true,
  keyPrefix: 'bench-peer:',
  scripts: { admit: { lua: ADMIT, numberOfKeys: 1 } },
});

createServer((request, response) => {
  const holder = keys.get(hashOf(request.headers.authorization?.slice('Bearer '.length) ?? ''));
  if (holder === undefined) {
    response.writeHead(401).end();
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => void answer(request, Buffer.concat(chunks), holder, response));
}).listen(Number(port), '127.0.0.1');

async function answer(request, body, { userId }, response) {
  if ((await redis.admit(`limit:${userId}`, WINDOW_SECONDS, REQUESTS_MAX)) !== 1) {
    response.writeHead(429).end();
    return;
  }
  const { model } = JSON.parse(body);
  forward(request.url, body, response, () => {
    const event = JSON.stringify({ userId, model, at: Date.now() });
    void redis.xadd('usage', 'MAXLEN', '~', EVENTS_KEPT, '*', 'event', event);
  });
}

process.once('SIGTERM', () => process.exit(0));
