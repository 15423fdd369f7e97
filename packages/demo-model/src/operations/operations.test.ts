import { inflateSync } from 'node:zlib';
import OpenAI, { toFile } from 'openai';
import { imageSize } from '../answering/image-size.ts';
import { startDemoModel, type RunningDemo } from '../demo-server.ts';
import { tonesOf, wavOf, wavSeconds } from './wav.ts';

let demo: RunningDemo;
let client: OpenAI;
beforeAll(async () => {
  demo = await startDemoModel();
  client = new OpenAI({ apiKey: 'any', baseURL: `${demo.url}/v1`, maxRetries: 0 });
});
afterAll(() => demo.close());

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${demo.url}/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });

describe('completions', () => {
  const ask = { model: 'demo-chat', prompt: 'Once upon' };

  it('continues a prompt, whole and streamed, with usage', async () => {
    const whole = await client.completions.create(ask);
    const text = whole.choices[0]?.text ?? '';
    expect(text).toContain('continues "Once upon".');
    expect(whole.usage).toMatchObject({
      prompt_tokens: 2,
      completion_tokens: text.trim().split(' ').length,
    });
    let streamed = '';
    let total: number | undefined;
    const reasons: unknown[] = [];
    for await (const chunk of await client.completions.create({
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    })) {
      streamed += chunk.choices[0]?.text ?? '';
      total = chunk.usage?.total_tokens ?? total;
      if (chunk.choices[0]?.finish_reason) reasons.push(chunk.choices[0].finish_reason);
    }
    expect([streamed, total, reasons]).toEqual([text, whole.usage?.total_tokens, ['stop']]);
  });

  it('knows suffix, echo, n, stop, the token limit and several prompts', async () => {
    const { choices } = await client.completions.create({
      ...ask,
      prompt: ['one', 'two'],
      suffix: 'the end',
      echo: true,
      n: 2,
    });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(choices.map(({ text }) => text.slice(0, 4))).toEqual(['one ', 'one ', 'two ', 'two ']);
    expect(choices[0]?.text).toContain('up to "the end"');
    const limited = await client.completions.create({ ...ask, max_tokens: 2 });
    expect(limited.choices[0]).toMatchObject({ text: ' This is', finish_reason: 'length' });
    const stopped = await client.completions.create({ ...ask, stop: ' how' });
    expect(stopped.choices[0]).toMatchObject({ text: ' This is', finish_reason: 'stop' });
  });
});

test('documents are ordered by the words that they have in common with the query', async () => {
  const documents = ['Bananas are yellow', 'The capital of France is Paris', { text: 'France' }];
  const body = { model: 'demo-rerank', query: 'capital of France', documents };
  const all = (await (await post('rerank', body)).json()) as { results: { index: number }[] };
  expect(all).toMatchObject({ model: 'demo-rerank', usage: { total_tokens: 13 } });
  expect(all.results.map(({ index }) => index)).toEqual([1, 2, 0]);
  const top = await (await post('rerank', { ...body, top_n: 1, return_documents: true })).json();
  expect(top).toMatchObject({ results: [{ index: 1, document: { text: documents[1] } }] });
  expect((top as typeof all).results).toHaveLength(1);
});

test('some words are flagged by the moderation', async () => {
  const { results } = await client.moderations.create({
    model: 'demo-moderation',
    input: ['I love you', 'I will kill you'],
  });
  expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
  expect(results[1]?.categories.violence).toBe(true);
  expect(results[1]?.category_scores.violence).toBeGreaterThan(0.5);
});

test('an image is a valid PNG, the same one for the same prompt', async () => {
  const request = { model: 'demo-image', prompt: 'A cat', size: '512x256' as '512x512', n: 2 };
  const { data, usage } = await client.images.generate(request);
  const again = await client.images.generate(request);
  const [first, second] = (data ?? []).map(({ b64_json }) => Buffer.from(b64_json ?? '', 'base64'));
  expect(imageSize(first ?? Buffer.alloc(0))).toEqual({ format: 'PNG', width: 512, height: 256 });
  expect(first).not.toEqual(second);
  expect(again.data).toEqual(data);
  const at = first?.indexOf('IDAT') ?? 0;
  const size = first?.readUInt32BE(at - 4) ?? 0;
  expect(inflateSync(first?.subarray(at + 4, at + 4 + size) ?? '')).toHaveLength(
    256 * (1 + 512 / 8),
  );
  expect(usage).toMatchObject({ input_tokens: 2, output_tokens: 544 });
  const { data: links } = await client.images.generate({ ...request, response_format: 'url' });
  expect(links?.[0]?.url).toBe(`data:image/png;base64,${data?.[0]?.b64_json}`);
});

test('an image is streamed with its earlier states', async () => {
  const request = { model: 'demo-image', prompt: 'A cat' };
  const events = [];
  const stream = await client.images.generate({ ...request, stream: true, partial_images: 2 });
  for await (const event of stream) events.push(event);
  const [first, second, last] = events;
  expect(events).toHaveLength(3);
  expect([first, second]).toMatchObject(
    [0, 1].map((index) => ({
      type: 'image_generation.partial_image',
      partial_image_index: index,
      created_at: expect.any(Number),
    })),
  );
  expect(first?.b64_json).not.toBe(second?.b64_json);
  const whole = await client.images.generate(request);
  expect(last).toMatchObject({
    type: 'image_generation.completed',
    b64_json: whole.data?.[0]?.b64_json,
    size: '256x256',
    usage: { input_tokens: 2, output_tokens: 272 },
  });
});

test('speech is a valid WAV file with a tone for each word', async () => {
  const request = { model: 'demo-speech', voice: 'alloy', input: 'one two three' };
  const response = await client.audio.speech.create(request);
  expect(response.headers.get('content-type')).toBe('audio/wav');
  const file = Buffer.from(await response.arrayBuffer());
  expect(wavSeconds(file, file.length)).toBeCloseTo(0.36, 5);
  const raw = await client.audio.speech.create({ ...request, response_format: 'pcm' });
  expect(Buffer.from(await raw.arrayBuffer())).toEqual(file.subarray(44));
});

describe('transcriptions', () => {
  const recording = wavOf(tonesOf(Array.from({ length: 10 }, () => 'word')));
  const upload = async () => ({
    model: 'demo-transcribe',
    file: await toFile(recording, 'a.wav', { type: 'audio/wav' }),
  });
  const text = `This is the built-in demo model. It received a file with ${recording.length} bytes and 1.2 seconds of audio.`;

  it('describe the file, whole and streamed', async () => {
    const whole = await client.audio.transcriptions.create(await upload());
    expect(whole).toMatchObject({ text, usage: { type: 'duration', seconds: 2 } });
    let streamed = '';
    for await (const event of await client.audio.transcriptions.create({
      ...(await upload()),
      stream: true,
    })) {
      if (event.type === 'transcript.text.delta') streamed += event.delta;
    }
    expect(streamed).toBe(text);
    const translated = await client.audio.translations.create(await upload());
    expect(translated.text).toBe(text);
  });

  it.each([
    ['text', `${text}\n`],
    ['srt', `1\n00:00:00,000 --> 00:00:01,200\n${text}\n\n`],
    ['vtt', `WEBVTT\n\n00:00:00.000 --> 00:00:01.200\n${text}\n\n`],
    [
      'verbose_json',
      {
        task: 'transcribe',
        language: 'english',
        duration: 1.2,
        text,
        usage: { type: 'duration', seconds: 2 },
        segments: [
          {
            id: 0,
            seek: 0,
            start: 0,
            end: 1.2,
            text,
            tokens: [],
            temperature: 0,
            avg_logprob: 0,
            compression_ratio: 1,
            no_speech_prob: 0,
          },
        ],
      },
    ],
  ] as const)('come as %s', async (response_format, expected) => {
    const body = { ...(await upload()), response_format };
    expect(await client.audio.transcriptions.create(body as never)).toEqual(expected);
  });
});

const FORM = new FormData();
FORM.set('model', 'demo-transcribe');

test.each([
  ['completions', { prompt: [{}] }],
  ['completions', { prompt: 'x', n: 0 }],
  ['rerank', { query: 'x' }],
  ['rerank', { documents: ['x'] }],
  ['moderations', {}],
  ['images/generations', {}],
  ['images/generations', { prompt: 'x', size: '9000x1' }],
  ['images/generations', { prompt: 'x', n: 11 }],
  ['images/generations', { prompt: 'x', stream: true, partial_images: 4 }],
  ['audio/speech', {}],
  ['audio/transcriptions', {}],
  ['audio/transcriptions', FORM],
])('%s refuses %j', async (path, body) => {
  const response =
    body instanceof FormData
      ? await fetch(`${demo.url}/v1/${path}`, { method: 'POST', body })
      : await post(path, { model: 'demo-chat', ...body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
});
