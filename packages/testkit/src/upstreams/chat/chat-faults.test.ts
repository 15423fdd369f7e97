import { once } from 'node:events';
import { connect } from 'node:net';
import { startChatUpstream, type RunningChatUpstream } from './chat-upstream.ts';

let upstream: RunningChatUpstream;
beforeEach(async () => {
  upstream = await startChatUpstream({ answer: () => 'one two three four five six' });
});
afterEach(() => upstream.close());

interface Ask {
  readonly stream?: boolean;
  readonly model?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

function ask({ stream = false, model = 'demo-chat', headers = {}, signal }: Ask = {}) {
  return fetch(`${upstream.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      model,
      stream,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'hi' }],
    }),
    ...(signal === undefined ? {} : { signal }),
  });
}

const streamed = async (): Promise<string> => (await ask({ stream: true })).text();
const textIn = (events: string): string =>
  [...events.matchAll(/"delta":\{"content":"([^"\\]*(?:\\.[^"\\]*)*)"/g)]
    .map((match) => match[1])
    .join('');

describe('faults of the whole answer', () => {
  it('answers a planned status as often as planned, with a Retry-After, then serves again', async () => {
    upstream.faults.next({ kind: 'status', status: 429, retryAfterSecs: 7 }, 2);
    const first = await ask();
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await first.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect((await ask()).status).toBe(429);
    expect((await ask()).status).toBe(200);
  });

  it('answers any body a fault carries, as text or as JSON', async () => {
    upstream.faults.next({ kind: 'status', status: 502, body: 'Bad Gateway' });
    upstream.faults.next({ kind: 'status', status: 418, body: { tea: true } });
    expect(await (await ask()).text()).toBe('Bad Gateway');
    expect(await (await ask()).json()).toEqual({ tea: true });
  });

  it('meets every request with a permanent fault until it is cleared, but not the listing', async () => {
    upstream.faults.always({ kind: 'status', status: 503 });
    expect([(await ask()).status, (await ask()).status]).toEqual([503, 503]);
    expect((await fetch(`${upstream.url}/v1/models`)).status).toBe(200);
    upstream.faults.clear();
    expect((await ask()).status).toBe(200);
  });

  it('can aim a fault at the listing alone', async () => {
    upstream.faults.next({ kind: 'garbage-json' }, 1, 'models');
    expect((await ask()).status).toBe(200);
    await expect(
      fetch(`${upstream.url}/v1/models`).then((response) => response.json()),
    ).rejects.toThrow('in JSON');
  });

  it('takes a fault from a header or from behind the model name', async () => {
    expect((await ask({ headers: { 'x-upstream-fault': 'status:504' } })).status).toBe(504);
    expect((await ask({ model: 'demo-chat@status:507' })).status).toBe(507);
    expect((await ask({ model: 'demo-chat@no-usage' })).status).toBe(200);
    expect((await ask({ model: 'demo-chat@nonsense' })).status).toBe(404);
  });

  it('waits before the first byte', async () => {
    upstream.faults.next({ kind: 'slow-start', delayMs: 60 });
    const startedAt = performance.now();
    await ask();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(55);
  });

  it('hangs until the client leaves, and notices that', async () => {
    upstream.faults.next({ kind: 'hang' });
    const controller = new AbortController();
    const asked = ask({ signal: controller.signal });
    await upstream.until(() => upstream.requestCount === 1);
    controller.abort();
    await expect(asked).rejects.toThrow('aborted');
    await upstream.until(() => upstream.aborted === 1);
    expect(upstream.totals.requests).toBe(0);
  });

  it('resets the connection without an answer', async () => {
    upstream.faults.next({ kind: 'reset' });
    await expect(ask()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect(upstream.aborted).toBe(0);
  });

  it('answers 200 with garbage, with an error, and a huge error', async () => {
    upstream.faults.next({ kind: 'garbage-json' });
    await expect(ask().then((response) => response.json())).rejects.toThrow('in JSON');
    upstream.faults.next({ kind: 'error-body' });
    const failed = await ask();
    expect(failed.status).toBe(200);
    expect(await failed.json()).toMatchObject({ error: { type: 'server_error' } });
    upstream.faults.next({ kind: 'huge-error' });
    const huge = await ask();
    expect(huge.status).toBe(500);
    expect((await huge.text()).length).toBeGreaterThan(5 * 1024 * 1024);
  });

  it('refuses connections and comes back on the same port', async () => {
    await upstream.refuse();
    await expect(ask()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    await upstream.resume();
    expect((await ask()).status).toBe(200);
  });

  it('cuts a plain answer in its middle and serves no token', async () => {
    upstream.faults.next({ kind: 'cut', afterChunks: 0 });
    await expect(ask().then((response) => response.text())).rejects.toThrow('terminated');
    expect(upstream.served.at(-1)).toMatchObject({ completionTokens: 0, completed: false });
  });

  it('leaves the usage out of a plain answer', async () => {
    upstream.faults.next({ kind: 'no-usage' });
    expect(await (await ask()).json()).not.toHaveProperty('usage');
  });
});

describe('faults inside a stream', () => {
  it('cuts after a number of chunks and counts the tokens that went out', async () => {
    upstream.faults.next({ kind: 'cut', afterChunks: 3 });
    const response = await ask({ stream: true });
    let received = '';
    await expect(
      (async () => {
        for await (const part of response.body ?? []) received += Buffer.from(part).toString();
      })(),
    ).rejects.toThrow('terminated');
    expect(textIn(received)).toBe('one two');
    expect(upstream.served.at(-1)).toMatchObject({ completionTokens: 2, completed: false });
  });

  it('ends in good order but without the end mark', async () => {
    upstream.faults.next({ kind: 'no-done' });
    const events = await streamed();
    expect(events).toContain('"finish_reason":"stop"');
    expect(events).not.toContain('[DONE]');
  });

  it('sends a garbage line and goes on', async () => {
    upstream.faults.next({ kind: 'garbage-line' });
    const events = await streamed();
    expect(events).toContain('half a chu\n');
    expect(textIn(events)).toBe('one two three four five six');
  });

  it('reports a failure in the middle', async () => {
    upstream.faults.next({ kind: 'error-chunk', afterChunks: 2, message: 'out of memory' });
    const events = await streamed();
    expect(events).toContain('data: {"error":{"message":"out of memory"');
    expect(textIn(events)).toBe('one');
  });

  it('sends a huge chunk', async () => {
    upstream.faults.next({ kind: 'huge-chunk' });
    expect(textIn(await streamed()).length).toBeGreaterThan(5 * 1024 * 1024);
  });

  it('splits characters over packets', async () => {
    upstream.faults.next({ kind: 'split-utf8' });
    const response = await ask({ stream: true });
    const parts: Buffer[] = [];
    const body: AsyncIterable<Uint8Array> | undefined = response.body ?? undefined;
    for await (const part of body ?? []) parts.push(Buffer.from(part));
    expect(parts.some((part) => part.toString().includes('\uFFFD'))).toBe(true);
    expect(textIn(Buffer.concat(parts).toString())).toContain('six Grüße aus 世界 👋🏽');
  });

  it('leaves usage out although asked, and answers without a token', async () => {
    upstream.faults.next({ kind: 'no-usage' });
    expect(await streamed()).not.toContain('"usage"');
    upstream.faults.next({ kind: 'no-tokens' });
    const events = await streamed();
    expect(textIn(events)).toBe('');
    expect(events).toContain('"completion_tokens":0');
    expect(upstream.served.at(-1)).toMatchObject({ completionTokens: 0, completed: true });
  });

  it('waits between chunks', async () => {
    upstream.faults.next({ kind: 'slow-chunks', delayMs: 10 });
    const startedAt = performance.now();
    await streamed();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(80);
  });

  it('stops when the client leaves a stalled stream, having counted what it sent', async () => {
    upstream.faults.next({ kind: 'stall', afterChunks: 4 });
    const controller = new AbortController();
    const response = await ask({ stream: true, signal: controller.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    controller.abort();
    await upstream.until(() => upstream.served.length === 1);
    expect(upstream.aborted).toBe(1);
    expect(upstream.served[0]).toMatchObject({ completionTokens: 3, completed: false });
  });
});

describe('leaving', () => {
  it('stops writing to a reader that stopped reading, and notices when it leaves', async () => {
    await upstream.close();
    upstream = await startChatUpstream({ answer: () => 'word '.repeat(100_000) });
    const socket = connect(upstream.port, '127.0.0.1');
    const body = JSON.stringify({
      model: 'demo-chat',
      stream: true,
      messages: [{ content: 'hi' }],
    });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'readable');
    socket.destroy();
    await upstream.until(() => upstream.served.length === 1);
    expect(upstream.aborted).toBe(1);
    expect(upstream.served[0]?.completionTokens).toBeLessThan(100_000);
  });

  it('ends every connection when it is closed', async () => {
    upstream.faults.next({ kind: 'hang' });
    const asked = ask();
    await upstream.until(() => upstream.requestCount === 1);
    await upstream.close();
    await expect(asked).rejects.toThrow('fetch failed');
    expect(upstream.aborted).toBe(0);
  });
});
