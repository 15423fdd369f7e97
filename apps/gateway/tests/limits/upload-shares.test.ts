import { join } from 'node:path';
import { newId } from '@model-gateway/kernel';
import { temporaryDataDir, waitUntil, type TemporaryFolder } from '@model-gateway/testkit';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { sendJson, startRelayUpstream, type RelayUpstream } from '../relay/relay-upstream.ts';
import {
  createUploadClient,
  headOf,
  openFilesBelow,
  written,
  type Part,
} from '../relay/upload-client.ts';

const FILES_BYTES_MAX = 1_000_000;
const model: Part = { name: 'model', value: 'whisper' };
const fileOf = (bytes: number): Part => ({
  name: 'file',
  value: 'a'.repeat(bytes),
  filename: 'a.mp3',
});

let gateway: GatewayUnderTest;
let data: TemporaryFolder;
let upstream: RelayUpstream;
let otherKey = '';

beforeAll(async () => {
  data = await temporaryDataDir();
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_DATA_DIR: data.path,
    SERVICE_UPLOAD_FILES_BYTES_MAX: String(FILES_BYTES_MAX),
  });
  upstream = await startRelayUpstream({ models: ['whisper'] });
  upstream.answer(({ request, response }) =>
    request.on('end', () => sendJson(response, { text: 'served' })),
  );
  const backend = { type: 'external', name: 'up', url: upstream.url };
  await registerBackend(gateway, { ...backend, capabilities: ['transcription'] });
  const { users } = gateway.test.context.database;
  const email = 'other@example.com';
  const other = await users.create({ id: newId(), email, name: '', passwordHash: 'not used' });
  ({ secret: otherKey } = await keysOf(gateway.test).create({ userId: other.id, name: 'other' }));
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
  await data.remove();
});

const openFiles = () => openFilesBelow(join(data.path, 'uploads'));

/** Begins an upload with its file first, and stops before its end: the file is kept, or the upload is refused. */
async function stall(bytes: number) {
  const before = (await openFiles()).length;
  const { client, status } = createUploadClient(gateway).begin();
  let answered = 0;
  void status.then((code) => (answered = code));
  const part = fileOf(bytes);
  await written(client, headOf(part) + part.value);
  await waitUntil(async () => answered !== 0 || (await openFiles()).length > before, {
    what: 'a kept file or a refusal',
  });
  return { client, answered: () => answered };
}

test('stalled uploads of one user leave room for those of others', async () => {
  const stalled: Awaited<ReturnType<typeof stall>>[] = [];
  for (let count = 0; count < 6; count += 1) stalled.push(await stall(FILES_BYTES_MAX / 5));
  try {
    const served = await createUploadClient({ url: gateway.url, key: otherKey }).send([
      fileOf(FILES_BYTES_MAX / 10),
      model,
    ]);
    expect(served.status).toBe(200);
    await waitUntil(async () => stalled.some(({ answered }) => answered() === 429), {
      what: 'a refusal of the user who has more than a fair share',
    });
  } finally {
    for (const { client } of stalled) client.destroy();
  }
  await waitUntil(async () => (await openFiles()).length === 0, { what: 'no file' });
});

test('an upload that the limits refuse is not kept', async () => {
  const { secret: key } = await keysOf(gateway.test).create({
    userId: gateway.userId,
    name: 'limited',
    settings: { rpm: 1 },
  });
  const limited = createUploadClient({ url: gateway.url, key });
  expect((await limited.send([fileOf(10), model])).status).toBe(200);
  // The answer comes before the end of the form, and nothing is kept of its beginning.
  const { client, status } = limited.begin();
  const part = fileOf(100);
  await written(client, headOf(part) + part.value);
  expect(await status).toBe(429);
  expect(await openFiles()).toEqual([]);
  client.destroy();
});
