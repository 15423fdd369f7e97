import {
  preparedDataDir,
  rpcCall,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { readDescribedApi, type Answered, type Call, type DescribedApi } from './described-api.ts';
import { chatOnce, startStandalone } from './standalone.ts';

// Real answers of every operation have the forms that the OpenAPI document promises.

const ADMIN_TOKEN = 'the admin token of the tests';
const ACCEPTED = ['application/json', '*/*'];

let folder: TemporaryFolder;
let standalone: TestProcess;
let video: RunningCloudVideo;
let api: DescribedApi;
let credentials: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = await preparedDataDir();
  standalone = await startStandalone(folder.path, {
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_API_RATE_LIMIT_RPM: '100000',
  });
  video = await startCloudVideo();
  await rpcCall(
    standalone.url,
    'billing.tiers.set',
    { name: 'free', monthly_usd_quota: null, monthly_token_quota: null, rpm: null },
    ADMIN_TOKEN,
  );
  const { key, token } = await chatOnce(standalone.url, 'you@example.com');
  credentials = { apiKey: key, accessToken: token, adminToken: ADMIN_TOKEN };
  api = await readDescribedApi(standalone.url);
});
afterAll(async () => {
  await standalone.stop();
  await video.close();
  await folder.remove();
});

const credentialOf = (id: string): string | undefined => {
  const [scheme = ''] = api.operations.get(id)?.schemes ?? [];
  return credentials[scheme];
};

/** The operations that were called with success. */
const served = new Set<string>();

async function succeed(id: string, call: Omit<Call, 'id'> = {}): Promise<Answered> {
  const answered = await api.call({ id, credential: credentialOf(id), ...call });
  expect(answered.problems).toEqual([]);
  expect([id, answered.status]).toEqual([id, 200]);
  served.add(id);
  return answered;
}

const idOf = ({ bytes }: Answered): string =>
  (JSON.parse(Buffer.from(bytes).toString()) as { readonly id: string }).id;

/** Every operation, with each type that a client may accept. */
const each = (): readonly (readonly [id: string, accept: string])[] =>
  [...api.operations.keys()].flatMap((id) => ACCEPTED.map((accept) => [id, accept] as const));

/** Those that take an API key. */
const keyed = () => each().filter(([id]) => api.operations.get(id)?.schemes.includes('apiKey'));

test.each([
  'createChatCompletion',
  'createMessage',
  'createResponse',
  'createCompletion',
  'createImage',
])('the example of %s is answered as described, streamed or not', async (id) => {
  await succeed(id);
  await succeed(id, { change: { stream: true } });
});

test.each([
  'countMessageTokens',
  'countResponseTokens',
  'createEmbeddings',
  'rerank',
  'createModeration',
  'listModels',
  'getHealth',
  'getApiHealth',
  'getPlainHealth',
  'getLiveness',
  'getReadiness',
  'getMetrics',
  'listBackends',
  'listAliases',
  'queryUsage',
  'addAlias',
  'removeAlias',
])('the example of %s is answered as described', async (id) => {
  await succeed(id);
});

test('stored responses', async () => {
  const name = idOf(await succeed('createResponse', { change: { store: true } }));
  await succeed('getResponse', { name });
  await succeed('listInputItems', { name, query: '?limit=1&order=asc' });
  await succeed('deleteResponse', { name });
});

test('audio', async () => {
  const { bytes } = await succeed('createSpeech', { accept: '*/*' });
  for (const id of ['createTranscription', 'createTranslation']) {
    const body = new FormData();
    body.set('model', 'demo-chat');
    body.set('file', new Blob([bytes]), 'speech.wav');
    await succeed(id, { body });
  }
});

test('one model, and queries', async () => {
  await succeed('getModel', { name: 'google/gemma-3-1b-it' });
  await succeed('explainRoute', { query: '?model=demo-chat' });
  await succeed('downloadUsage', { query: '?group_by=day', accept: '*/*' });
  await succeed('exportAudit', { query: '?after=0', accept: '*/*' });
  const query = { group_by: 'model', include_records: true };
  await succeed('queryUsage', { change: query });
});

test('backends', async () => {
  const name = 'my-backend';
  await succeed('registerBackend');
  await succeed('getBackend', { name });
  await succeed('putBackend', { name });
  await succeed('changeBackend', { name, change: { models: ['gone'] } });
  await succeed('testBackend', { name });
  await succeed('listBackends');
  await succeed('removeBackend', { name });
  const registered = await succeed('registerBackend');
  const { index } = JSON.parse(Buffer.from(registered.bytes).toString()) as { index: number };
  await succeed('removeBackendByIndex', { change: { index } });
});

test('video jobs', async () => {
  const change = { type: 'cloud-video', name: 'cloud', url: video.url, models: ['v-1'] };
  await succeed('registerBackend', { change: { ...change, api_key: null } });
  const name = idOf(await succeed('createVideo', { change: { model: 'v-1' } }));
  await succeed('getVideo', { name });
  await succeed('removeBackend', { name: 'cloud' });
});

test('every operation was called', () => {
  expect([...served].toSorted()).toEqual([...api.operations.keys()].toSorted());
});

test('a missing credential, a wrong one and a broken body are refused as described', async () => {
  const answers = await Promise.all(
    each().flatMap(([id, accept]) => {
      const call = { id, accept, name: 'any' };
      const hasBody = api.operations.get(id)?.example !== undefined;
      return [
        api.call(call),
        api.call({ ...call, credential: 'wrong' }),
        api.call({ ...call, credential: credentialOf(id), ...(hasBody ? { body: '{' } : {}) }),
      ];
    }),
  );
  expect(answers.flatMap(({ problems }) => problems)).toEqual([]);
  const count = (expected: number): number =>
    answers.filter(({ status }) => status === expected).length;
  expect([count(400) > 20, count(401) > 100, count(404) > 5]).toEqual([true, true, true]);
});

test('missing models, and upstreams that are away, are errors as described', async () => {
  const backend = { name: 'away', url: 'http://127.0.0.1:1', models: ['away'] };
  await succeed('registerBackend', { change: backend });
  const answers = await Promise.all(
    keyed().flatMap(([id, accept]) =>
      ['missing', 'away'].map((model) =>
        api.call({ id, accept, name: 'any', credential: credentialOf(id), change: { model } }),
      ),
    ),
  );
  expect(answers.flatMap(({ problems }) => problems)).toEqual([]);
  expect(answers.filter(({ status }) => status >= 500).length).toBeGreaterThan(5);
  expect(answers.filter(({ status }) => status === 404).length).toBeGreaterThan(5);
  await succeed('removeBackend', { name: 'away' });
});

test('a limit that is reached is refused as described', async () => {
  const limits = { monthly_usd_quota: null, monthly_token_quota: null, rpm: 1 };
  await rpcCall(standalone.url, 'billing.tiers.set', { name: 'free', ...limits }, ADMIN_TOKEN);
  const { key: credential } = await chatOnce(standalone.url, 'other@example.com');
  const answers = await Promise.all(
    keyed().map(([id, accept]) => api.call({ id, accept, name: 'any', credential })),
  );
  expect(answers.flatMap(({ problems }) => problems)).toEqual([]);
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(10);
});
