import { newId } from '@model-gateway/kernel';
import type { KeySettingChanges } from '@model-gateway/accounts';
import { openStoreLine, usageEvent, waitUntil, type StoreLine } from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { startSlowUpstream, type SlowUpstream } from '../chat/slow-upstream.ts';

const MODEL = 'gpt-4o-mini';
/** Longer than a command of Redis may take. */
const LATE_MS = 1_300;
const AT_ONCE = 3;
/** More tokens than the quota has, also where its usage cannot be read. */
const LONG = 'word '.repeat(100);
const CHAT: Asked = { path: 'chat/completions', body: { max_tokens: 5_000 } };
const LIMITED: Asked = { ...CHAT, settings: { budgetUsd: 0.001 } };
const SURFACES: readonly Asked[] = [
  CHAT,
  LIMITED,
  { path: 'chat/completions', body: { max_tokens: 5_000, stream: true } },
  { path: 'responses', body: { input: 'Hi', max_output_tokens: 5_000 } },
  { path: 'messages', body: { max_tokens: 5_000 } },
  { path: 'completions', body: { prompt: LONG } },
  { path: 'embeddings', body: { input: LONG } },
  { path: 'rerank', body: { query: 'Hi', documents: [LONG] } },
  { path: 'moderations', body: { input: LONG } },
  { path: 'images/generations', body: { prompt: LONG } },
  { path: 'audio/speech', body: { input: LONG, voice: 'alloy' } },
  { path: 'audio/transcriptions', isForm: true },
  { path: 'video/generations', body: { model: 'v-1', prompt: 'A cat' } },
];
const CAPABILITIES = [
  'chat',
  'completions',
  'embeddings',
  'rerank',
  'moderations',
  'images',
  'speech',
  'transcription',
];

const VIDEO_PRICE = {
  model: 'v-1',
  mode: 'per_call',
  basePrice: 2,
  pricePerSecond: 0,
  pricePerFrame: 0,
  resolutionCoeff: {},
  currency: 'USD',
  enabled: true,
} as const;

interface Asked {
  readonly path: string;
  readonly body?: object;
  /** A form with a file. */
  readonly isForm?: boolean;
  /** Of a key whose user has no quota; otherwise the user has a quota with one token and one cent left. */
  readonly settings?: KeySettingChanges;
}

let lines: StoreLine[];
let gateway: GatewayUnderTest;
let upstream: SlowUpstream;
let video: RunningCloudVideo;

beforeAll(async () => {
  lines = [];
  const reach = async (storeUrl: string): Promise<string> => {
    const line = await openStoreLine(storeUrl);
    lines.push(line);
    return line.url;
  };
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' }, { reach });
  upstream = await startSlowUpstream(MODEL);
  video = await startCloudVideo();
  const external = { type: 'external', url: upstream.url, capabilities: CAPABILITIES };
  await registerBackend(gateway, { ...external, name: 'up' });
  const cloud = { type: 'cloud-video', url: video.url, models: ['v-1'] };
  await registerBackend(gateway, { ...cloud, name: 'cloud' });
  await gateway.test.context.database.videoPricing.save(VIDEO_PRICE);
  const small = { monthlyUsdQuota: 1, monthlyTokenQuota: 100, rpm: null };
  await gateway.test.context.database.plans.saveTier('small', small);
});
afterEach(async () => {
  delayStores(0, 0);
  const { bus } = gateway.test.context;
  await waitUntil(async () => bus.mode() === 'redis', { what: 'Redis' });
});
afterAll(async () => {
  await Promise.all([upstream.close(), video.close()]);
  await gateway.test.close();
  await Promise.all(lines.map((line) => line.close()));
});

function delayStores(postgresMs: number, redisMs: number): void {
  for (const [place, line] of lines.entries())
    line.delayAnswers(place === 0 ? postgresMs : redisMs);
}

/** A key of a new user, whose usage Redis does not know yet. */
async function newKey(settings: KeySettingChanges | undefined): Promise<string> {
  const { database } = gateway.test.context;
  const email = `${newId()}@example.com`;
  const user = { id: newId(), email, name: '', passwordHash: 'not used' };
  await database.users.create(user);
  if (settings === undefined) {
    await database.plans.assign(email, 'small');
    const spent = usageEvent(user.id, { total_tokens: 99, cost: 0.99 });
    await database.usage.record([spent], { pointsPerUsd: 100 });
  }
  const { secret } = await keysOf(gateway.test).create({ userId: user.id, name: 'key', settings });
  return secret;
}

function bodyOf({ body, isForm = false }: Asked): string | FormData {
  const messages = [{ role: 'user', content: 'Hi' }];
  if (!isForm) return JSON.stringify({ model: MODEL, messages, ...body });
  const form = new FormData();
  form.append('model', MODEL);
  form.append('file', new Blob(['RIFF']), 'speech.wav');
  return form;
}

const ask = (key: string, asked: Asked, signal: AbortSignal): Promise<Response> =>
  fetch(`${gateway.url}/v1/${asked.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: bodyOf(asked),
    signal,
  });

/** Sends some requests with each key at once; returns how many are admitted and the statuses of the others, for each key. */
async function outcomesOf(keys: readonly string[], asked: readonly Asked[]) {
  const leaving = new AbortController();
  const statuses = asked.map((): number[] => []);
  const asking = asked.flatMap((each, place) =>
    Array.from({ length: AT_ONCE }, async () => {
      const { status } = await ask(keys[place] ?? '', each, leaving.signal);
      statuses[place]?.push(status);
    }),
  );
  const settled = Promise.allSettled(asking);
  // Those that are admitted wait for the upstream, except for video jobs.
  await waitUntil(async () => statuses.flat().length + upstream.waiting() === asking.length, {
    what: 'a decision about each request',
  });
  const outcomes = asked.map(({ path }, place) => {
    const refused = statuses[place]?.filter((status) => status !== 200) ?? [];
    return { path, admitted: AT_ONCE - refused.length, refused: [...new Set(refused)] };
  });
  leaving.abort();
  await settled;
  await waitUntil(async () => upstream.waiting() === 0, { what: 'the end of the requests' });
  return outcomes;
}

test.each([
  { what: 'Postgres is slow', postgresMs: LATE_MS, redisMs: 0 },
  { what: 'Redis is slow', postgresMs: 0, redisMs: LATE_MS },
  { what: 'Redis is paused and Postgres slow', postgresMs: LATE_MS, redisMs: Infinity },
])('while $what, a quota or budget for one request admits one', async (delays) => {
  const keys = await Promise.all(SURFACES.map(({ settings }) => newKey(settings)));
  delayStores(delays.postgresMs, delays.redisMs);
  const expected = SURFACES.map(({ path, settings }) => ({
    path,
    admitted: 1,
    refused: [settings === undefined ? 429 : 402],
  }));
  expect(await outcomesOf(keys, SURFACES)).toEqual(expected);
});

test('while Postgres does not answer at all, what is in flight counts', async () => {
  const asked = [CHAT, LIMITED];
  const keys = await Promise.all(asked.map(({ settings }) => newKey(settings)));
  // The keys are known from here on, their usage is not.
  for (const key of keys) {
    const models = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(models.status).toBe(200);
  }
  delayStores(Infinity, 0);
  const outcomes = await outcomesOf(keys, asked);
  expect(outcomes.map(({ admitted }) => admitted)).toEqual([1, 1]);
});
