import { chatTurn } from '@model-gateway/dialects';
import type { UpstreamChat } from '@model-gateway/contracts';
import { readFileSync } from 'node:fs';
import { systemClock } from '@model-gateway/kernel';
import type { Backend } from '@model-gateway/router';
import { startOllamaServer, type RunningOllamaServer } from '@model-gateway/testkit/upstreams';
import { readAll, startChunks, textOf, completionIn, type Chunk } from '../../tests/read-chunks.ts';
import { createBackend } from '../factory/create-backend.ts';

const timeouts = { connectMs: 30_000, idleMs: 2_000, totalMs: 3_000 };
const signal = new AbortController().signal;

let server: RunningOllamaServer;
let backend: Backend;
beforeEach(async () => {
  server = await startOllamaServer({ answer: () => 'one two three' });
  backend = backendAt(server.url);
});
afterEach(async () => {
  await backend.close();
  await server.close();
});

function backendAt(url: string, apiKey: string | null = null): Backend {
  const config = { name: 'local', type: 'ollama', url, apiKey, models: [], capabilities: null };
  return createBackend(config, { timeouts, clock: systemClock });
}
const chatBody = (more: Readonly<Record<string, unknown>> = {}): UpstreamChat => ({
  model: 'demo-local:latest',
  messages: [{ role: 'user', content: 'hello there' }],
  ...more,
});
const start = (body = chatBody(), abort = signal): Promise<AsyncIterable<Chunk>> =>
  startChunks(backend, chatTurn(body), abort);
const read = async (body = chatBody()): Promise<readonly Chunk[]> => readAll(await start(body));

const recorded = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8'));

describe('a local server', () => {
  it('is understood as the real one answers', async () => {
    server.faults.next({ kind: 'status', status: 200, body: recorded('tags.json') }, 1, 'tags');
    expect(await backend.probe(signal)).toEqual({
      state: 'Healthy',
      models: ['llama3.2:latest', 'nomic-embed-text:v1.5'],
    });
    server.faults.next({ kind: 'status', status: 200, body: recorded('embed.json') }, 1, 'embed');
    expect(await backend.embed?.({ model: 'nomic-embed-text', input: ['a', 'b'] }, signal)).toEqual(
      {
        model: 'nomic-embed-text:v1.5',
        vectors: [
          [0.010071029, -0.0017594862, 0.05007221, 0.04692972],
          [-0.0098027075, 0.06042469, 0.025257962, -0.006364387],
        ],
        vectorTexts: [
          '[0.010071029,-0.0017594862,0.05007221,0.04692972]',
          '[-0.0098027075,0.06042469,0.025257962,-0.006364387]',
        ],
        promptTokens: 8,
      },
    );
  });

  it('is Healthy with the models it lists', async () => {
    expect(await backend.probe(signal)).toEqual({
      state: 'Healthy',
      models: ['demo-local:latest'],
    });
    expect([...backend.capabilities()]).toEqual(['chat', 'embeddings']);
  });

  it('answers whole', async () => {
    const answer = await backend.chat?.(chatTurn(chatBody({ max_tokens: 2 })), signal);
    expect(completionIn(answer)).toMatchObject({
      object: 'chat.completion',
      model: 'demo-local:latest',
      choices: [{ message: { role: 'assistant', content: 'one two' }, finish_reason: 'length' }],
      usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
    });
  });

  it('streams, and reports the usage at the end', async () => {
    const chunks = await read();
    expect(textOf(chunks.slice(0, -1))).toBe('one two three');
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    });
  });

  it('uses one connection for one answer after another', async () => {
    await read();
    await read();
    await backend.chat?.(chatTurn(chatBody()), signal);
    expect(server.requestCount).toBe(3);
    expect(server.aborted).toBe(0);
  });

  it('calls tools', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
    const messages = [{ role: 'user', content: 'call look {"at":"me"}' }];
    const answer = await backend.chat?.(chatTurn(chatBody({ tools, messages })), signal);
    expect(completionIn(answer).choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: { content: null, tool_calls: [{ function: { arguments: '{"at":"me"}' } }] },
      },
    ]);
  });

  it('embeds', async () => {
    const input = ['a', 'b c'];
    const model = 'demo-local:latest';
    const answer = await backend.embed?.({ model, input, encoding_format: 'base64' }, signal);
    expect(answer).toMatchObject({ model, promptTokens: 3 });
    expect(answer?.vectors.map((vector) => vector.length)).toEqual([64, 64]);
    expect(server.lastRequest?.body).toEqual({ model, input });
  });

  it('is sent its key, under the path of its URL', async () => {
    const keyed = backendAt(`${server.url}/ollama/`, 'secret');
    await keyed.probe(signal);
    expect(server.lastRequest?.path).toBe('/ollama/api/tags');
    expect(server.lastRequest?.headers.authorization).toBe('Bearer secret');
    await expect(keyed.chat?.(chatTurn(chatBody()), signal)).rejects.toThrow('upstream 404');
    expect(server.lastRequest?.headers.authorization).toBe('Bearer secret');
    await keyed.close();
  });

  it('is cancelled when the reader stops', async () => {
    server.faults.next({ kind: 'slow-chunks', delayMs: 20 });
    for await (const chunk of await start()) if (chunk['choices'] !== undefined) break;
    await server.until(() => server.aborted === 1);
  });

  it('is cancelled when the caller leaves', async () => {
    const controller = new AbortController();
    server.faults.next({ kind: 'stall', afterChunks: 1 });
    const reading = readAll(await start(chatBody(), controller.signal));
    controller.abort(new Error('client left'));
    await expect(reading).rejects.toThrow('client left');
    await server.until(() => server.aborted === 1);
  });
});

describe('a local server that fails', () => {
  it.each([
    {
      why: 'answers 503',
      fault: { kind: 'status', status: 503 },
      message: 'upstream 503: planned',
    },
    { why: 'answers an error', fault: { kind: 'error-body' }, message: 'upstream 200: the model' },
    { why: 'answers garbage', fault: { kind: 'garbage-json' }, message: '' },
    { why: 'resets', fault: { kind: 'reset' }, message: '' },
    { why: 'hangs', fault: { kind: 'hang' }, message: 'took longer than 3000 ms' },
    { why: 'is cut', fault: { kind: 'cut', afterChunks: 1 }, message: '' },
    { why: 'redirects', fault: { kind: 'status', status: 307 }, message: 'upstream 307' },
  ] as const)('$why: a whole answer', async ({ fault, message }) => {
    server.faults.next(fault);
    await expect(backend.chat?.(chatTurn(chatBody()), signal)).rejects.toMatchObject({
      code: 'bad_gateway',
      isBackendAtFault: true,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    { why: 'answers 503', fault: { kind: 'status', status: 503 } },
    { why: 'says so in its first line', fault: { kind: 'error-chunk', afterChunks: 0 } },
    { why: 'sends garbage first', fault: { kind: 'garbage-line', afterChunks: 0 } },
    { why: 'resets', fault: { kind: 'reset' } },
    { why: 'stalls before its first line', fault: { kind: 'stall', afterChunks: 0 } },
  ] as const)('$why: no stream begins', async ({ fault }) => {
    server.faults.next(fault);
    await expect(start()).rejects.toMatchObject({ code: 'bad_gateway', isBackendAtFault: true });
  });

  it.each([
    { why: 'is cut', fault: { kind: 'cut', afterChunks: 2 } },
    { why: 'says so', fault: { kind: 'error-chunk', afterChunks: 2 } },
    { why: 'sends garbage', fault: { kind: 'garbage-line', afterChunks: 2 } },
    { why: 'stalls', fault: { kind: 'stall', afterChunks: 2 } },
    { why: 'leaves its last line out', fault: { kind: 'no-done' } },
  ] as const)('$why in mid-stream: what came before is read, then it fails', async ({ fault }) => {
    server.faults.next(fault);
    const seen: Chunk[] = [];
    const reading = (async () => {
      for await (const chunk of await start()) seen.push(chunk);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'bad_gateway', isBackendAtFault: true });
    expect(textOf(seen)).toMatch(/^one two/);
  });

  it('says nothing about tokens: neither does the stream', async () => {
    server.faults.next({ kind: 'no-usage' });
    expect((await read()).some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it.each([{ kind: 'huge-chunk' }, { kind: 'split-utf8' }] as const)(
    'streams whole in spite of a %p',
    async (fault) => {
      server.faults.next(fault);
      const text = textOf((await read()).slice(0, -1));
      expect(text).toContain(
        fault.kind === 'split-utf8' ? ' Grüße aus 世界 👋🏽' : 'x'.repeat(1_000),
      );
    },
  );

  it('refuses the request: the backend is not at fault', async () => {
    const refused = backend.chat?.(chatTurn(chatBody({ model: 'other' })), signal);
    await expect(refused).rejects.toMatchObject({
      isBackendAtFault: false,
      message: "upstream 404: model 'other' not found",
    });
  });

  it('is Degraded when its listing is, and Unhealthy when it is unreachable', async () => {
    server.faults.next({ kind: 'status', status: 500 }, 1, 'tags');
    expect(await backend.probe(signal)).toMatchObject({
      state: 'Degraded',
      reason: 'the tag listing answered 500',
    });
    server.faults.next({ kind: 'garbage-json' }, 1, 'tags');
    expect(await backend.probe(signal)).toMatchObject({ reason: 'it has no models to serve' });
    server.faults.next({ kind: 'hang' }, 1, 'tags');
    await expect(backend.probe(AbortSignal.timeout(50))).rejects.toThrow('timeout');
    await server.refuse();
    await expect(backend.probe(signal)).rejects.toThrow('ECONNREFUSED');
    await expect(backend.chat?.(chatTurn(chatBody()), signal)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('a model that cannot think', () => {
  const refused = (message: string) => ({
    kind: 'status' as const,
    status: 400,
    body: { error: message },
  });
  const asked = chatBody({ reasoning_effort: 'high' });

  it.each([
    '"demo-local:latest" does not support thinking',
    'think value "high" is not supported for this model',
  ])('is asked again without it, which is named: %s', async (message) => {
    server.faults.next(refused(message), 1, 'chat');
    const answer = await backend.chat?.(chatTurn(asked), signal);
    expect(answer?.ignored).toEqual(['reasoning_effort']);
    expect(completionIn(answer).choices).toMatchObject([{ message: { content: 'one two three' } }]);
    expect(textOf(await read(asked))).toBe('one two three');
  });

  it('is asked once where it refuses something else', async () => {
    server.faults.next(refused('"demo-local:latest" does not support tools'), 1, 'chat');
    await expect(backend.chat?.(chatTurn(asked), signal)).rejects.toMatchObject({ status: 400 });
    server.faults.next(refused('does not support thinking'), 1, 'chat');
    await expect(backend.chat?.(chatTurn(chatBody()), signal)).rejects.toMatchObject({
      status: 400,
    });
  });
});
