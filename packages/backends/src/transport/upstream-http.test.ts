import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { AnswerWatch } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { createAnswerMemory } from './answers/answer-memory.ts';
import { boundedCall } from './bounded-call.ts';
import { readTextAnswer } from './answers/read-text.ts';
import { createUpstreamHttp, type UpstreamHttp } from './upstream-http.ts';

const timeouts = { connectMs: 5_000, idleMs: 60_000, totalMs: 60_000 };
const bytesMax = 1_000;
const MEBIBYTE = 1024 * 1024;

/** A server that never answers, unless it is given an answer. */
async function startServer(answer: (response: ServerResponse) => void = () => undefined) {
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => {
    arrive();
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, arrived, close };
}

type Ask = (http: UpstreamHttp, signal: AbortSignal, watch?: AnswerWatch) => Promise<unknown>;

const post = { method: 'POST' as const, path: '/', headers: {}, body: '{}' };

describe.each<{ how: string; ask: Ask }>([
  { how: 'streamed', ask: (http, signal) => http.request({ ...post, signal }) },
  { how: 'whole', ask: (http, signal) => http.requestWhole({ ...post, signal }, bytesMax) },
])('a $how call that fails', ({ ask }) => {
  test('after it was sent may have had effects', async () => {
    const server = await startServer();
    const http = createUpstreamHttp(server.url, timeouts);
    const controller = new AbortController();
    const call = ask(http, controller.signal);
    void server.arrived.then(() => controller.abort(new Error('left')));
    await expect(call).rejects.toMatchObject({ message: 'left', hadNoEffect: false });
    await http.close();
    await server.close();
  });

  test('before it was sent had none', async () => {
    const server = await startServer();
    const http = createUpstreamHttp(server.url, timeouts);
    const controller = new AbortController();
    controller.abort(new Error('left'));
    await expect(ask(http, controller.signal)).rejects.toMatchObject({
      message: 'left',
      hadNoEffect: true,
    });
    await server.close();
    const { signal: cancel } = new AbortController();
    await expect(ask(http, cancel)).rejects.toMatchObject({ hadNoEffect: true });
    await http.close();
  });
});

describe('an answer that is compressed without being asked for', () => {
  const compressed = (status: number) => (response: ServerResponse) =>
    void response.writeHead(status, { 'content-encoding': 'gzip' }).end(gzipSync('{"ok":true}'));

  test.each<{ how: string; ask: Ask }>([
    { how: 'streamed', ask: (http, signal) => http.request({ ...post, signal }) },
    { how: 'whole', ask: (http, signal) => http.requestWhole({ ...post, signal }, bytesMax) },
  ])('is a failure that says so ($how), of a refusal the status counts', async ({ ask }) => {
    const outcomeOf = async (status: number): Promise<unknown> => {
      const server = await startServer(compressed(status));
      const http = createUpstreamHttp(server.url, timeouts);
      const [outcome] = await Promise.allSettled([ask(http, new AbortController().signal)]);
      await http.close();
      await server.close();
      return outcome;
    };
    const message = 'the upstream compressed its answer (gzip) without being asked to';
    expect(await outcomeOf(200)).toMatchObject({ status: 'rejected', reason: { message } });
    expect(await outcomeOf(400)).toMatchObject({ status: 'fulfilled', value: { status: 400 } });
  });
});

test('a whole answer that takes longer than the total time is a timeout', async () => {
  const server = await startServer();
  const http = createUpstreamHttp(server.url, { ...timeouts, totalMs: 50 });
  const { signal: cancel } = new AbortController();
  await expect(http.requestWhole({ ...post, signal: cancel }, bytesMax)).rejects.toMatchObject({
    message: 'the upstream took longer than 50 ms',
    isTimeout: true,
  });
  await http.close();
  await server.close();
});

test.each<{ how: string; ask: Ask }>([
  {
    how: 'whole',
    ask: (http, signal, watch) => http.requestWhole({ ...post, signal, watch }, bytesMax),
  },
  {
    how: 'streamed and read whole',
    ask: (http, signal, watch) =>
      boundedCall(60_000, signal, async (bounded) => {
        const { status, body } = await http.request({ ...post, signal: bounded });
        const limits = { bytesMax, memory: undefined, signal: bounded, watch };
        return { status, text: await readTextAnswer(body, limits) };
      }),
  },
])(
  'the first byte of an answer that is $how is reported once, before the rest',
  async ({ ask }) => {
    let sendRest = (): void => undefined;
    const server = await startServer((response) => {
      sendRest = () => void response.end('rest');
      response.write('first ');
    });
    const http = createUpstreamHttp(server.url, timeouts);
    let reports = 0;
    const onFirstByte = (): void => {
      reports += 1;
      sendRest();
    };
    expect(await ask(http, new AbortController().signal, { onFirstByte })).toMatchObject({
      status: 200,
      text: 'first rest',
    });
    expect(reports).toBe(1);
    await http.close();
    await server.close();
  },
);

describe('a whole answer', () => {
  const tooLarge = `the upstream answered more than ${bytesMax} bytes; SERVICE_UPSTREAM_ANSWER_BYTES_MAX sets this limit`;
  const values = `[${'{},'.repeat(MEBIBYTE)}{}]`;

  test.each([
    { what: 'has a length above the limit', text: 'x'.repeat(bytesMax + 1), message: tooLarge },
    {
      what: 'grows above the limit',
      text: 'x'.repeat(bytesMax + 1),
      isChunked: true,
      message: tooLarge,
    },
    {
      what: 'has many values',
      text: values.repeat(3),
      limit: 32 * MEBIBYTE,
      message: 'the upstream answered with too many or too deeply nested values',
    },
  ])('that $what is refused, and the backend is not at fault', async (row) => {
    const { text, isChunked = false, limit = bytesMax, message } = row;
    const server = await startServer((response) => {
      if (isChunked) response.write('x');
      response.on('error', () => undefined).end(text);
    });
    const http = createUpstreamHttp(server.url, timeouts);
    const { signal } = new AbortController();
    await expect(http.requestWhole({ ...post, signal }, limit)).rejects.toMatchObject({
      message,
      isBackendAtFault: false,
    });
    await http.close();
    await server.close();
  });

  test.each([
    { what: 'as large as allowed', text: 'x'.repeat(bytesMax), limit: bytesMax },
    { what: 'with characters of many bytes', text: '你😀'.repeat(MEBIBYTE), limit: 8 * MEBIBYTE },
    { what: 'that is empty', text: '', limit: 1 },
  ])('$what is read', async ({ text, limit }) => {
    const server = await startServer((response) => response.end(text));
    const http = createUpstreamHttp(server.url, timeouts);
    const { signal } = new AbortController();
    const answer = await http.requestWhole({ ...post, signal }, limit);
    expect(answer.text === text).toBe(true);
    await http.close();
    await server.close();
  });

  test.each([
    { how: 'with a length', isChunked: false, heldBytes: MEBIBYTE },
    { how: 'without a length', isChunked: true, heldBytes: 8 * MEBIBYTE },
  ])('$how takes memory while it arrives, or waits', async ({ isChunked, heldBytes }) => {
    const server = await startServer((response) => {
      if (isChunked) response.write('x');
      response.end('x'.repeat(isChunked ? MEBIBYTE - 1 : MEBIBYTE));
    });
    const answerMemory = createAnswerMemory({ bytesMax: 1 });
    const http = createUpstreamHttp(server.url, timeouts, { answerMemory });
    const other = answerMemory.take(undefined, 1, () => undefined);
    const left = new AbortController();
    const { signal } = new AbortController();
    const leaves = http.requestWhole({ ...post, signal: left.signal }, 8 * MEBIBYTE);
    await waitUntil(() => answerMemory.waiting === 1);
    const waits = http.requestWhole({ ...post, signal }, 8 * MEBIBYTE);
    await waitUntil(() => answerMemory.waiting === 2);
    left.abort(new Error('left'));
    await expect(leaves).rejects.toThrow('left');
    await waitUntil(() => answerMemory.waiting === 1);
    const held: number[] = [];
    other.release();
    held.push(answerMemory.heldBytes);
    const { text } = await waits;
    expect([text.length, held]).toEqual([MEBIBYTE, [heldBytes]]);
    expect(answerMemory.heldBytes).toBe(0);
    await http.close();
    await server.close();
  });
});
