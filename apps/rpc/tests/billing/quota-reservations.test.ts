import { usageEvent, waitUntil } from '@model-gateway/testkit';
import {
  startCloudVideo,
  startRealtimeApi,
  type RunningCloudVideo,
  type RunningRealtimeApi,
} from '@model-gateway/testkit/upstreams';
import { startChatScene, type ChatScene, type TestUser } from '../chat/chat-scene.ts';
import { startRealtimeTalk } from '../realtime/realtime-scene.ts';
import { startGatedUpstream, type GatedUpstream } from '../chat/gated-upstream.ts';

const RESERVED = {
  code: -32_006,
  message:
    'the rest of the monthly quota is reserved by requests in progress; retry when they have ended',
};

let scene: ChatScene;
let upstream: GatedUpstream;
let video: RunningCloudVideo;
let realtime: RunningRealtimeApi;
/** Two users for each test, with a tier of their own. */
let ann: TestUser;
let bob: TestUser;
let count = 0;

beforeAll(async () => {
  scene = await startChatScene({
    SERVICE_MAX_CALLS_PER_USER: '30',
    SERVICE_MAX_VIDEO_JOBS_PER_USER: '3',
  });
  video = await startCloudVideo();
  realtime = await startRealtimeApi({ models: ['old-realtime'], answer: () => 'one two' });
  await scene.addBackend('cloud', video.url, 'cloud-video', ['v-1']);
  await scene.addBackend('rt', realtime.url.replace('ws', 'http'));
});
afterAll(async () => {
  await scene.test.close();
  await Promise.all([video.close(), realtime.close()]);
});
beforeEach(async () => {
  count += 1;
  [ann, bob] = [await scene.createUser(`ann-${count}`), await scene.createUser(`bob-${count}`)];
  upstream = await startGatedUpstream('m');
  await scene.addBackend('up', upstream.url);
});
afterEach(async () => {
  upstream.open();
  await scene.removeBackend('up');
  await upstream.close();
});

async function setTier(changes: object): Promise<void> {
  const { plans } = scene.test.context.database;
  const tier = `tier-${count}`;
  await plans.saveTier(tier, {
    monthlyUsdQuota: null,
    monthlyTokenQuota: null,
    rpm: null,
    ...changes,
  });
  for (const name of ['ann', 'bob']) await plans.assign(`${name}-${count}@example.com`, tier);
}

async function spend({ id }: TestUser, tokens: number, cost = 0): Promise<void> {
  const { database, bus } = scene.test.context;
  const event = usageEvent(id, { total_tokens: tokens, cost });
  const { facts } = await database.usage.record([event], { pointsPerUsd: 100 });
  await bus.admission.updateHints(facts);
}

const params = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5_000 };

test('of 25 concurrent chat.send a quota for one admits one, with the last token', async () => {
  await setTier({ monthlyTokenQuota: 100 });
  await spend(ann, 99);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 25 }, () => ann.call('chat.send', params)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await ann.refusal('chat.send', params)).toEqual(RESERVED);
  expect(await ann.refusal('realtime.start', { model: 'old-realtime' })).toEqual(RESERVED);
  expect(await bob.call('chat.send', params)).toMatchObject({ memory: 'disabled' });
});

test('the next chat.send is admitted when the stream before it has ended', async () => {
  await setTier({ monthlyTokenQuota: 300 });
  await spend(ann, 290);
  await ann.call('chat.send', params);
  expect(await ann.refusal('chat.send', params)).toEqual(RESERVED);
  upstream.open();
  await waitUntil(
    async () =>
      ann.call('chat.send', params).then(
        () => true,
        () => false,
      ),
    {
      what: 'an admitted turn',
    },
  );
});

describe('a conversation with a long history', () => {
  const LITTLE = { ...params, max_tokens: 1 };
  const sendAtOnce = async (more: object): Promise<number> => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => ann.call('chat.send', { ...LITTLE, ...more })),
    );
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  };
  /** About 6,250 tokens. */
  const talkAtLength = async (): Promise<string> => {
    const conversationId = await scene.conversation({}, ann);
    const said = { role: 'user', content: 'word '.repeat(5_000) };
    await scene.test.context.database.conversations.addTurn(conversationId, [said]);
    return conversationId;
  };

  test('is reserved with each turn, and a refused turn is not stored', async () => {
    await setTier({ monthlyTokenQuota: 10_000 });
    const conversation_id = await talkAtLength();
    expect(await sendAtOnce({ conversation_id })).toBe(2);
    expect(await ann.refusal('chat.send', { ...LITTLE, conversation_id })).toEqual(RESERVED);
    expect(await scene.messages(conversation_id, ann)).toHaveLength(1 + 2);
  });

  test('is not read for a turn that the quota refuses', async () => {
    const { conversations } = scene.test.context.database;
    const conversation_id = await talkAtLength();
    await setTier({ monthlyTokenQuota: 100 });
    await spend(ann, 100);
    const real = { ...conversations };
    const reads: string[] = [];
    Object.assign(conversations, {
      historySize: async (...given: Parameters<typeof real.historySize>) => {
        reads.push('size');
        return real.historySize(...given);
      },
      history: async (...given: Parameters<typeof real.history>) => {
        reads.push('texts');
        return real.history(...given);
      },
    });
    try {
      const { message } = await ann.refusal('chat.send', { ...LITTLE, conversation_id });
      expect(message).toContain('quota');
      expect(reads).toEqual([]);
      await setTier({ monthlyTokenQuota: 10_000 });
      await ann.call('chat.send', { ...LITTLE, conversation_id });
      expect(reads).toEqual(['size', 'texts']);
    } finally {
      Object.assign(conversations, real);
    }
  });

  test('reserves nothing for turns outside of it', async () => {
    await setTier({ monthlyTokenQuota: 10_000 });
    await talkAtLength();
    expect(await sendAtOnce({})).toBe(10);
  });

  test('of another user is not found, after the quota was checked, and reserves nothing', async () => {
    await setTier({ monthlyTokenQuota: 10_000 });
    const turn = { ...params, conversation_id: await scene.conversation({}, bob) };
    for (let round = 0; round < 4; round += 1)
      expect(await ann.refusal('chat.send', turn)).toEqual({
        code: -32_000,
        message: 'conversation not found',
      });
    await ann.call('chat.send', { ...params, max_tokens: 20_000 });
    expect(await ann.refusal('chat.send', turn)).toEqual(RESERVED);
  });
});

test('a user may have so many streams at a time', async () => {
  await setTier({});
  const outcomes = await Promise.allSettled(
    Array.from({ length: 32 }, () => ann.call('chat.send', params)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(30);
  const tooMany = {
    code: -32_000,
    message: expect.stringMatching(/at most 30 per user at a time\. .*SERVICE_MAX_CALLS_PER_USER/),
  };
  expect(await ann.refusal('chat.send', params)).toEqual(tooMany);
  expect(await ann.refusal('realtime.start', { model: 'old-realtime' })).toEqual(tooMany);
  await bob.call('chat.send', params);
});

test('an unfinished video job reserves its price, a cancelled one no longer', async () => {
  await setTier({ monthlyUsdQuota: 1 });
  await spend(ann, 0, 0.5);
  const order = { model: 'v-1', prompt: 'a cat', duration_seconds: 60 };
  const create = async () => ((await ann.call('video.create', order)) as { job_id: string }).job_id;
  // 60 s at 0.005 USD: 0.3 USD each.
  const first = await create();
  await create();
  expect(await ann.refusal('video.create', order)).toEqual(RESERVED);
  expect(await ann.refusal('chat.send', params)).toEqual(RESERVED);
  await ann.call('video.cancel', { job_id: first });
  await create();
});

test('a video job that is cancelled while it runs reserves its price until its upstream has answered', async () => {
  const { videoJobs } = scene.test.context.database;
  await setTier({ monthlyUsdQuota: 1 });
  await spend(ann, 0, 0.8);
  const order = { model: 'v-1', prompt: 'a cat', duration_seconds: 60 };
  const { job_id } = (await ann.call('video.create', order)) as { job_id: string };
  await videoJobs.startSubmission(job_id, { backend: 'cloud', servedModel: 'v-1' });
  await videoJobs.begin(job_id, 'task-1');
  for (let times = 0; times < 2; times += 1) {
    await ann.call('video.cancel', { job_id });
    expect(await ann.refusal('video.create', order)).toEqual(RESERVED);
  }
});

test('a user may have so many unfinished video jobs', async () => {
  await setTier({});
  const order = { model: 'v-1', prompt: 'a cat' };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, () => ann.call('video.create', order)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  expect(await ann.refusal('video.create', order)).toEqual({
    code: -32_000,
    message: expect.stringMatching(/at most 3 per user\. .*SERVICE_MAX_VIDEO_JOBS_PER_USER/),
  });
  const { jobs } = (await ann.call('video.list')) as { jobs: { job_id: string }[] };
  await ann.call('video.cancel', { job_id: jobs[0]?.job_id });
  await ann.call('video.create', order);
  await bob.call('video.create', order);
});

test('a realtime response is served with the last token, and its session ends when nothing is left', async () => {
  await setTier({ monthlyTokenQuota: 100 });
  await spend(ann, 99);
  const talk = await startRealtimeTalk(ann, scene.url, { model: 'old-realtime' });
  expect((await talk.respond()).at(-1)).toMatchObject({ type: 'response.done' });
  talk.close();
});

test.each([
  { why: 'its maximum', config: { max_output_tokens: 5_000 }, isRefused: true },
  { why: 'its instructions', config: { instructions: 'word '.repeat(5_000) }, isRefused: true },
  { why: 'little if it needs little', config: { instructions: 'Hi' }, isRefused: false },
])('a realtime response reserves $why while it is generated', async ({ config, isRefused }) => {
  await setTier({ monthlyTokenQuota: 10_000 });
  await spend(ann, 6_000);
  const talk = await startRealtimeTalk(ann, scene.url, { model: 'old-realtime', config });
  await talk.until('session.created');
  realtime.sendToAll(JSON.stringify({ type: 'response.created', response: { id: 'r' } }));
  await talk.until('response.created');
  const expected = isRefused ? RESERVED.message : 'admitted';
  await waitUntil(async () => (await outcomeOf(ann)).includes(expected));
  await talk.stop();
  talk.close();
});

/** What a turn of few tokens gets; one that is admitted ends at once. */
async function outcomeOf(user: TestUser): Promise<string> {
  upstream.open();
  return user.call('chat.send', { ...params, max_tokens: 1 }).then(
    () => 'admitted',
    (error: unknown) => (error as Error).message,
  );
}
