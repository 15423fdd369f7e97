import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  fullSize,
  temporaryDataDir,
  waitUntil,
  type TemporaryFolder,
} from '@model-gateway/testkit';
import OpenAI, { toFile } from 'openai';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import {
  sendEvents,
  sendJson,
  startRelayUpstream,
  type RelayUpstream,
  type ReceivedRequest,
} from './relay-upstream.ts';
import {
  createUploadClient,
  END,
  formAt,
  formOf,
  headOf,
  openFilesBelow,
  textOf,
  WAV_HEAD,
  written,
  type Part,
  type UploadClient,
} from './upload-client.ts';
import { buffersNow, FILE_END, sendFiles } from './upload-memory.ts';
import { takeUsage } from '../money/usage-journal.ts';

const MEGABYTE = 1024 * 1024;
const AUDIO_BYTES = fullSize(96, { small: 12 }) * MEGABYTE;
const UPLOAD_BYTES_MAX = AUDIO_BYTES + MEGABYTE;
/** How much of an upload may be in memory: the buffers of sockets and streams, not the file. */
const MEMORY_BYTES_MAX = 8 * MEGABYTE;

let gateway: GatewayUnderTest;
let data: TemporaryFolder;
let upstream: RelayUpstream;
let openai: OpenAI;
let uploads: UploadClient;

beforeAll(async () => {
  data = await temporaryDataDir();
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
    SERVICE_DATA_DIR: data.path,
    SERVICE_UPLOAD_BYTES_MAX: String(UPLOAD_BYTES_MAX),
  });
  upstream = await startRelayUpstream({ models: ['whisper:latest'] });
  await register('up', upstream);
  uploads = createUploadClient(gateway);
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
beforeEach(() => answerText(upstream));
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
  await data.remove();
});

async function register(name: string, { url }: Pick<RelayUpstream, 'url'>): Promise<void> {
  const backend = { type: 'external', name, url, capabilities: ['transcription'] };
  expect((await registerBackend(gateway, backend)).status).toBe(200);
}

/** Answers when the whole form has arrived. */
const answerText = (server: RelayUpstream, answer: object = { text: 'abcdefgh' }): void =>
  server.answer(({ request, response }) => request.on('end', () => sendJson(response, answer)));

const nextRow = async () => (await takeUsage(gateway.test.context.bus.journal, 1))[0];

/** Fails if there is a row before that of a request that is answered now. */
async function expectNoRow(): Promise<void> {
  answerText(upstream, { text: 'marker' });
  expect((await uploads.send([model, audio])).status).toBe(200);
  expect(await nextRow()).toMatchObject({ completion_tokens: 2, status: 200 });
}

const model: Part = { name: 'model', value: 'whisper' };
const audio: Part = { name: 'file', value: 'the audio', filename: 'a "b".mp3' };
const openFiles = () => openFilesBelow(join(data.path, 'uploads'));

describe('the official client', () => {
  const sentAudio = ['file', ['speech.mp3', 'audio/mpeg', 'the audio']];
  const file = () => toFile(Buffer.from('the audio'), 'speech.mp3', { type: 'audio/mpeg' });

  test('transcribes with the file first and the model last', async () => {
    const answer = await openai.audio.transcriptions.create({
      file: await file(),
      timestamp_granularities: ['word', 'segment'],
      response_format: 'verbose_json',
      model: 'whisper',
    });
    expect(answer.text).toBe('abcdefgh');
    const call = upstream.calls.at(-1);
    expect(call?.path).toBe('/v1/audio/transcriptions');
    expect(await formAt(call)).toEqual([
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['response_format', 'verbose_json'],
      ['model', 'whisper:latest'],
      sentAudio,
    ]);
    // It was kept, so its length is known.
    expect(call?.request.headers['content-length']).toBe(String((await call?.body)?.length));
    expect(await nextRow()).toMatchObject({
      model: 'whisper:latest',
      upstream: 'up',
      prompt_tokens: 0,
      completion_tokens: 2,
      status: 200,
    });
    expect(await openFiles()).toEqual([]);
  });

  test('transcribes with the model first, and translates', async () => {
    const request = { model: 'whisper', file: await file(), language: 'de' };
    await openai.audio.transcriptions.create(request);
    const call = upstream.calls.at(-1);
    expect(await formAt(call)).toEqual([
      ['model', 'whisper:latest'],
      sentAudio,
      ['language', 'de'],
    ]);
    expect(call?.request.headers['transfer-encoding']).toBe('chunked');
    await openai.audio.translations.create({ file: await file(), model: 'whisper' });
    expect(upstream.calls.at(-1)?.path).toBe('/v1/audio/translations');
    expect(await takeUsage(gateway.test.context.bus.journal, 2)).toHaveLength(2);
  });

  test('gets events as they come', async () => {
    const counts = { type: 'tokens', input_tokens: 14, output_tokens: 5, total_tokens: 19 };
    upstream.answer(({ request, response }) =>
      request.on('end', () =>
        sendEvents(response, [
          { type: 'transcript.text.delta', delta: 'abcd' },
          { type: 'transcript.text.done', text: 'abcd', usage: counts },
        ]),
      ),
    );
    const request = { file: await file(), model: 'whisper', stream: true } as const;
    const types: string[] = [];
    for await (const event of await openai.audio.transcriptions.create(request))
      types.push(event.type);
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
    expect(await nextRow()).toMatchObject({ prompt_tokens: 14, completion_tokens: 5 });
  });
});

test.each([
  {
    what: 'tokens',
    answer: { text: 'abcd', usage: { type: 'tokens', input_tokens: 14, output_tokens: 5 } },
    metered: { prompt_tokens: 14, completion_tokens: 5 },
  },
  {
    what: 'seconds, which have no tokens',
    answer: { text: 'abcd', usage: { type: 'duration', seconds: 7 } },
    metered: { prompt_tokens: 0, completion_tokens: 0 },
  },
  {
    what: 'nothing, so that its text counts',
    answer: { text: 'abcdefghi' },
    metered: { prompt_tokens: 0, completion_tokens: 3 },
  },
])('a transcription is metered by what the upstream reports: $what', async (row) => {
  answerText(upstream, row.answer);
  expect(await (await uploads.send([audio, model])).json()).toEqual(row.answer);
  expect(await nextRow()).toMatchObject({ ...row.metered, status: 200 });
});

test('a transcription that is no JSON passes as it is', async () => {
  const text = '1\n00:00:00,000 --> 00:01:30,500\nHi\n';
  upstream.answer(({ request, response }) =>
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
      response.end(text);
    }),
  );
  const response = await uploads.send([model, audio]);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await response.text()).toBe(text);
  // Subtitles say how long the audio is.
  expect(await nextRow()).toMatchObject({ status: 200, audio_seconds: 90.5 });
});

test('a compressed form is understood', async () => {
  const form = gzipSync(formOf([audio, model]));
  const response = await uploads.send(form, { 'content-encoding': 'gzip' });
  expect(response.status).toBe(200);
  expect(await formAt(upstream.calls.at(-1))).toContainEqual(['model', 'whisper:latest']);
  await nextRow();
});

describe('while the client sends', () => {
  test('the file arrives at the upstream, if the model came first', async () => {
    const { client, status } = uploads.begin();
    const count = upstream.calls.length;
    await written(client, textOf([model]) + headOf(audio) + 'the first half');
    await upstream.until(() => upstream.calls.length > count);
    const call = upstream.calls.at(-1);
    await upstream.until(() => (call?.bytes ?? 0) > 'the first half'.length);
    expect(await openFiles()).toEqual([]);
    client.end(`the second half\r\n${END}`);
    expect(await status).toBe(200);
    expect(String(await call?.body)).toContain('the first halfthe second half\r\n');
    await nextRow();
  });

  test('it may leave: the call of the upstream ends, nothing is metered', async () => {
    const { client, status } = uploads.begin();
    const count = upstream.calls.length;
    await written(client, textOf([model]) + headOf(audio) + 'the first half');
    await upstream.until(() => upstream.calls.length > count);
    const call = upstream.calls.at(-1);
    client.destroy();
    await status;
    await upstream.until(() => call?.isAborted === true);
    await expectNoRow();
  });

  test('it may leave while its file is kept: no file stays, and no upstream is called', async () => {
    const { client, status } = uploads.begin();
    const count = upstream.calls.length;
    await written(client, headOf(audio) + 'the first half');
    await waitUntil(async () => (await openFiles()).length === 1);
    expect(await readdir(join(data.path, 'uploads'))).toEqual([]);
    client.destroy();
    await status;
    await waitUntil(async () => (await openFiles()).length === 0);
    expect(upstream.calls).toHaveLength(count);
    await expectNoRow();
  });

  test('the upstream may refuse, which the client gets', async () => {
    upstream.answer(({ response }) => sendJson(response, { error: { message: 'no' } }, 415));
    const { client, status } = uploads.begin();
    client.write(textOf([model]) + headOf(audio) + 'the first half');
    expect(await status).toBe(415);
    client.destroy();
    await expectNoRow();
  });
});

test.each([
  { by: 'size of its file', value: 'a'.repeat(60 * 16_000), seconds: 60 },
  { by: 'header of its file', value: WAV_HEAD + 'a'.repeat(30 * 32_768), seconds: 30 },
])('a client that leaves after it has sent everything is metered, by the $by', async (file) => {
  const parts: readonly Part[] = [model, { ...audio, value: file.value }];
  for (const order of [parts, parts.toReversed()]) {
    upstream.answer(() => undefined);
    const { client, status } = uploads.begin();
    const count = upstream.calls.length;
    client.end(formOf(order));
    await upstream.until(() => upstream.calls.length > count);
    const call = upstream.calls.at(-1);
    await call?.body;
    client.destroy();
    await Promise.all([status, upstream.until(() => call?.isAborted === true)]);
    const row = await nextRow();
    expect(Math.round((row?.prompt_tokens ?? 0) / 10)).toBe(file.seconds / 3);
    expect(row).toMatchObject({ completion_tokens: 0, status: 499, upstream: 'up' });
    expect(row?.audio_seconds).toBeCloseTo(file.seconds, 0);
    await waitUntil(async () => (await openFiles()).length === 0);
  }
});

describe('a backend that fails', () => {
  const failing = ({ request, response }: ReceivedRequest) =>
    request.on('end', () => sendJson(response, { error: { message: 'no GPU' } }, 503));

  test('is followed by another one, or another model, if the file was kept', async () => {
    const second = await startRelayUpstream({ models: ['whisper:latest', 'tiny'] });
    await register('second', second);
    answerText(second);
    upstream.answer(failing);
    const order: Part = { name: 'provider', value: '{"order":["up"]}' };
    const kept = await uploads.send([audio, model, order]);
    expect(kept.headers.get('x-service-backend')).toBe('second');
    expect(await formAt(second.calls.at(-1))).toEqual([
      ['model', 'whisper:latest'],
      ['file', ['a "b".mp3', 'audio/mpeg', 'the audio']],
    ]);
    second.answer(async (call) => {
      const isTiny = String(await call.body).includes('tiny');
      sendJson(call.response, isTiny ? { text: 'small' } : {}, isTiny ? 200 : 503);
    });
    const other = await uploads.send([audio, model, { name: 'models', value: '["tiny"]' }]);
    expect(await other.json()).toEqual({ text: 'small' });
    expect(await takeUsage(gateway.test.context.bus.journal, 2)).toMatchObject([
      { upstream: 'second', model: 'whisper:latest' },
      { upstream: 'second', model: 'tiny' },
    ]);
    const tried = second.calls.length;
    const only: Part = { name: 'provider', value: '{"only":["up"]}' };
    const passed = await uploads.send([model, order, audio]);
    expect(passed.status).toBe(502);
    expect(second.calls).toHaveLength(tried);
    await admin(gateway, 'DELETE', 'backends/by-name/second');
    expect((await uploads.send([audio, model, only])).status).toBe(502);
    await second.close();
    await expectNoRow();
  });
});

describe('an upload is never in memory as a whole', () => {
  test.each([
    { where: 'passes', head: textOf([model]) + headOf(audio), tail: FILE_END },
    { where: 'is kept on disk', head: headOf(audio), tail: `\r\n${formOf([model])}` },
  ])('while it $where', async ({ head, tail }) => {
    const count = upstream.calls.length;
    const before = buffersNow();
    const upload = uploads.begin();
    const megabytes = AUDIO_BYTES / MEGABYTE;
    const peak = await sendFiles({ sending: [upload], head, megabytes, every: megabytes / 3 });
    upload.client.end(tail);
    expect(await upload.status).toBe(200);
    expect(Math.max(peak, buffersNow() - before)).toBeLessThan(MEMORY_BYTES_MAX);
    expect(upstream.calls).toHaveLength(count + 1);
    expect(upstream.calls.at(-1)?.bytes).toBeGreaterThan(AUDIO_BYTES);
    expect(await nextRow()).toMatchObject({ status: 200 });
  });

  test('while eight arrive at once, of which half leave', async () => {
    const megabytes = fullSize(20, { small: 6 });
    const count = upstream.calls.length;
    const sending = Array.from({ length: 8 }, () => uploads.begin());
    const head = textOf([model]) + headOf(audio);
    const peak = await sendFiles({ sending, head, megabytes, every: 2 });
    // All of them together have more than twice as much.
    expect(peak).toBeLessThan(MEMORY_BYTES_MAX * 2.5);
    await upstream.until(() => upstream.calls.length === count + 8);
    const calls = upstream.calls.slice(count);
    for (const [index, { client }] of sending.entries())
      if (index % 2 === 0) client.destroy();
      else client.end(FILE_END);
    const statuses = await Promise.all(sending.map(({ status }) => status));
    expect(statuses).toEqual([0, 200, 0, 200, 0, 200, 0, 200]);
    await upstream.until(() => calls.filter(({ isAborted }) => isAborted).length === 4);
    const rows = await takeUsage(gateway.test.context.bus.journal, 4);
    expect(rows.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe('refused', () => {
  const large = 'a'.repeat(UPLOAD_BYTES_MAX);
  const long = { name: 'prompt', value: 'a'.repeat(70_000) };
  const unended = (parts: Parameters<typeof formOf>[0]): string =>
    formOf(parts).replace(/(.*)\r\n\r\n/s, '$1\n');
  test.each([
    { why: 'no form', form: '{}', more: { 'content-type': 'application/json' }, status: 400 },
    { why: 'no boundary', form: '', more: { 'content-type': 'multipart/form-data' }, status: 400 },
    { why: 'no file', form: formOf([model]), status: 400, message: "'file'" },
    { why: 'no model', form: formOf([audio]), status: 400, message: "'model'" },
    ...['model', 'file'].map((name) => ({
      why: `a part without a name: the ${name}`,
      form: formOf([model, audio]).replace(`; name="${name}"`, ''),
      status: 400,
      message: 'no name',
    })),
    { why: 'headers of a file without an end', form: unended([model, audio]), status: 400 },
    { why: 'headers of a field without an end', form: unended([audio, model]), status: 400 },
    { why: 'a form that is cut off', form: textOf([audio, model]), status: 400 },
    { why: 'an unknown model', form: formOf([{ ...model, value: 'x' }, audio]), status: 404 },
    {
      why: 'a routing field after a file that passes',
      form: formOf([model, audio, { name: 'provider', value: 'up' }]),
      status: 400,
      message: "'provider' must come before the file",
    },
    { why: 'two files', form: formOf([audio, audio, model]), status: 400, message: 'one file' },
    { why: 'a large field', form: formOf([long, model, audio]), status: 413, message: "'prompt'" },
    { why: 'a large form', form: formOf([model, { ...audio, value: large }]), status: 413 },
  ])('$why', async ({ form, more, status, message = '' }) => {
    const response = await uploads.send(form, more);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining(message) as string },
    });
    await waitUntil(async () => (await openFiles()).length === 0);
  });

  test.each([
    { where: 'passes', head: textOf([model]) + headOf(audio) },
    { where: 'is kept', head: headOf(audio) },
  ])('a form of unknown length that is too large while it $where', async ({ head }) => {
    const { client, status } = uploads.begin();
    client.write(head);
    client.end(large);
    expect(await status).toBe(413);
    await waitUntil(async () => (await openFiles()).length === 0);
    await expectNoRow();
  });
});
