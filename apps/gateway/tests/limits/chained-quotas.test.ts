import { randomBytes } from 'node:crypto';
import { createAccountEvents } from '@model-gateway/accounts';
import { openStoreLine, testRedisUrl, waitUntil } from '@model-gateway/testkit';
import type { StoreLine } from '@model-gateway/testkit';
import { createGateway } from '../../src/app.ts';
import { readGatewayConfig } from '../../src/config.ts';
import { startSlowUpstream, type SlowUpstream } from '../chat/slow-upstream.ts';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

const MODEL = 'gpt-4o-mini';
const SETTINGS = { SERVICE_API_RATE_LIMIT_RPM: '100000', SERVICE_MAX_BODY_BYTES: '1000000' };
const AT_ONCE = 10;
/** Of a stored text. */
const CHARS = 25_000;
/** Less than two of the texts have, and more than one. */
const QUOTA = 10_000;

let gateway: GatewayUnderTest;
let upstream: SlowUpstream;
let urls: readonly [string, string];
let redisLines: StoreLine[];

beforeEach(async () => {
  redisLines = [];
  gateway = await startGateway(SETTINGS, {
    async reach(storeUrl) {
      if (storeUrl !== testRedisUrl()) return storeUrl;
      const line = await openStoreLine(storeUrl);
      redisLines.push(line);
      return line.url;
    },
  });
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    ...SETTINGS,
  });
  const peer = await gateway.test.openPeer();
  urls = [gateway.url, await gateway.test.serve(createGateway(config, peer))];
  upstream = await startSlowUpstream(MODEL);
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterEach(async () => {
  await upstream.close();
  await gateway.test.close();
  for (const line of redisLines) await line.close();
});

/** Stores a response to a long text; returns its id. */
async function storeLong(): Promise<string> {
  const id = `resp_${randomBytes(16).toString('hex')}`;
  const content = [{ type: 'input_text', text: 'word '.repeat(CHARS / 5) }];
  const input = JSON.stringify([{ type: 'message', role: 'user', content }]);
  const saved = {
    id,
    userId: gateway.userId,
    previousId: null,
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 600_000),
    input,
    response: '{"output":[]}',
    inputItems: 1,
    outputItems: 0,
    largestInputBytes: input.length,
    largestOutputBytes: 0,
  };
  await gateway.test.context.database.responses.save(saved, Number.MAX_SAFE_INTEGER);
  return id;
}

async function setQuota(monthlyTokenQuota: number): Promise<void> {
  const { database, bus, log } = gateway.test.context;
  await database.plans.saveTier('free', { monthlyTokenQuota });
  const events = createAccountEvents({ channels: bus.channels, counters: bus.counters, log });
  await events.changed({ kind: 'tiers' });
}

/** Every request reserves a few tokens before its chain is read, and thousands after that. */
test.each([
  { what: 'a quota', where: 'with Redis', isAlone: false },
  { what: 'a quota', where: 'without Redis', isAlone: true },
  { what: 'tokens per minute of a key', where: 'with Redis', isAlone: false },
  { what: 'tokens per minute of a key', where: 'without Redis', isAlone: true },
])(
  `of ${AT_ONCE} chained requests at once $what for one admits that and one more, $where`,
  async ({ what, isAlone }) => {
    const id = await storeLong();
    const ofKey = what !== 'a quota';
    if (!ofKey) await setQuota(QUOTA);
    const settings = ofKey ? { tpm: QUOTA } : {};
    const { secret } = await keysOf(gateway.test).create({
      userId: gateway.userId,
      name: 'limited',
      settings,
    });
    if (isAlone) for (const line of redisLines) line.cut();
    const leaving = new AbortController();
    const statuses: number[] = [];
    const send = async (turn: number): Promise<void> => {
      // Without Redis each process counts by itself.
      const response = await fetch(`${urls[isAlone || turn % 2 === 0 ? 0 : 1]}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify({
          model: MODEL,
          input: 'Hi',
          store: false,
          max_output_tokens: 1,
          previous_response_id: id,
        }),
        signal: leaving.signal,
      });
      statuses.push(response.status);
    };
    const sent = Array.from({ length: AT_ONCE }, (_, turn) => send(turn));
    await waitUntil(async () => statuses.length + upstream.waiting() === AT_ONCE, {
      what: 'each request is refused or waits for its upstream',
    });
    expect(upstream.waiting()).toBe(2);
    expect(statuses).toEqual(statuses.map(() => 429));
    leaving.abort();
    await Promise.allSettled(sent);
  },
);
