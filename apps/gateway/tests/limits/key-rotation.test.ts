import { fullSize, insertAccount, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { keysOf, liftTier, startTwoGateways, type TwoGateways } from '../gateway.ts';

const MODEL = 'gpt-4o-mini';
const REQUESTS = fullSize(1_000, { small: 120 });
const CLIENTS = 8;
const HOUR_SECS = 3_600;

let upstream: RunningChatUpstream;
let gateways: TwoGateways;
let ownerId = '';

beforeAll(async () => {
  upstream = await startChatUpstream({ models: [MODEL], answer: () => 'hello' });
  gateways = await startTwoGateways(upstream);
  const { database } = gateways.test.context;
  await liftTier(database);
  ownerId = await insertAccount(database, 'owner@example.com');
});
afterAll(async () => {
  await gateways.test.close();
  await upstream.close();
});

async function ask(url: string, secret: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  return response.status;
}

/** The status of a concurrent request to each gateway. */
const statuses = (secret: string): Promise<readonly number[]> =>
  Promise.all(gateways.urls.map((url) => ask(url, secret)));

test('no request is refused while its key is rotated under load, and the old secret ends with its grace', async () => {
  const keys = keysOf(gateways.test);
  const { key: created, secret: first } = await keys.create({ userId: ownerId, name: 'k' });
  const secrets = [first];
  let asked = 0;
  let rotated: Promise<void> | undefined;
  async function rotate(): Promise<void> {
    secrets.push((await keys.rotate(ownerId, created.id, HOUR_SECS)).secret);
  }
  const refused: number[] = [];
  // Each client uses the old secret and, as soon as there is one, the new secret, on both gateways.
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (asked < REQUESTS) {
      const turn = asked;
      asked += 1;
      if (turn === REQUESTS / 4) rotated = rotate();
      const secret = secrets[turn % secrets.length] ?? first;
      const status = await ask(gateways.urls[Math.floor(turn / 2) % 2 === 0 ? 0 : 1], secret);
      if (status !== 200) refused.push(status);
    }
  });
  await Promise.all(clients);
  await rotated;
  expect(refused).toEqual([]);
  expect(secrets).toHaveLength(2);
  const [, second = ''] = secrets;

  const { key, secret: third } = await keys.rotate(ownerId, created.id, 1);
  expect(await statuses(first)).toEqual([401, 401]);
  await statuses(second);
  await waitUntil(() => Date.now() >= (key.previousUntil?.getTime() ?? Infinity));
  expect(await statuses(second)).toEqual([401, 401]);
  expect(await statuses(third)).toEqual([200, 200]);
});
