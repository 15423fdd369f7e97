// A chat upstream that costs as little as possible: it answers at once, or streams tokens at a fixed pace. It stands in front of
// what is measured, so it speaks HTTP by hand and trusts its callers.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** What each token of a stream is; it occurs nowhere else in an answer. */
export const TOKEN = '~';

export interface Upstream {
  readonly port: number;
  readonly url: string;
  /** How many connections were opened that carried a completion. */
  connections(): number;
  close(): void;
}

interface Stream {
  readonly tokens: number;
  readonly intervalMs: number;
  /** The body ends so much later than `[DONE]`, as that of many providers does. */
  readonly lateMs: number;
}

/** Opening a connection takes the round trips of TCP and of TLS. */
const HANDSHAKE_ROUND_TRIPS = 2;
const LATE_MS = 5;
const LAST_CHUNK = '0\r\n\r\n';
const ANSWER = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'bench',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'The quick brown fox jumps over the lazy dog.' },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40 },
});

/** The model whose answers are streams of so many tokens. */
export const streamedModel = (tokens: number, intervalMs: number, isLate = false): string =>
  `bench-${tokens}-${intervalMs}${isLate ? '-late' : ''}`;

function streamOf(body: string): Stream | undefined {
  const [, tokens, intervalMs, late] = /"model":"bench-(\d+)-(\d+)(-late)?"/.exec(body) ?? [];
  if (tokens === undefined) return undefined;
  return {
    tokens: Number(tokens),
    intervalMs: Number(intervalMs),
    lateMs: late === undefined ? 0 : LATE_MS,
  };
}

/** Serves these models; everything arrives and leaves `delayMs` later. */
export async function startUpstream(models: readonly string[], delayMs = 0): Promise<Upstream> {
  const listing = JSON.stringify({ object: 'list', data: models.map((id) => ({ id })) });
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    const openAt = performance.now() + 2 * delayMs * HANDSHAKE_ROUND_TRIPS;
    const write = (text: string): void => {
      if (delayMs === 0) socket.write(text, 'latin1');
      else setTimeout(() => socket.write(text, 'latin1'), delayMs);
    };
    let received = '';
    let hasCompletion = false;
    const take = (text: string): void => {
      received += text;
      const body = wholeBody(received);
      if (body === undefined) return;
      const isListing = received.startsWith('GET ');
      received = '';
      if (!isListing && !hasCompletion) connections += 1;
      hasCompletion ||= !isListing;
      if (isListing) write(withLength(listing));
      else answer(body, write, socket);
    };
    const arriving: string[] = [];
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (delayMs === 0) return take(text);
      arriving.push(text);
      const waitMs = Math.max(0, openAt - performance.now()) + delayMs;
      return void setTimeout(() => take(arriving.shift() ?? ''), waitMs);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    connections: () => connections,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The body of a request once it has arrived. */
function wholeBody(text: string): string | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const body = text.slice(end + 4);
  if (/^transfer-encoding: *chunked/im.test(head))
    return body.endsWith(LAST_CHUNK) ? body : undefined;
  const [, length = '0'] = /^content-length: *(\d+)/im.exec(head) ?? [];
  return body.length >= Number(length) ? body : undefined;
}

const withLength = (body: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

function answer(body: string, write: (text: string) => void, socket: Socket): void {
  const stream = streamOf(body);
  if (stream === undefined) {
    write(withLength(ANSWER));
    return;
  }
  const usage = body.includes('"include_usage":true') ? usageEvent(stream.tokens) : '';
  const last = chunked(`${event({ choices: [choice({}, 'stop')] })}${usage}data: [DONE]\n\n`);
  write(
    `${STREAM_HEAD}${chunked(event({ choices: [choice({ role: 'assistant', content: '' })] }))}`,
  );
  let left = stream.tokens;
  const step = (): void => {
    left -= 1;
    if (left > 0) return write(TOKEN_CHUNK);
    stop();
    if (stream.lateMs === 0) return write(`${TOKEN_CHUNK}${last}${LAST_CHUNK}`);
    write(`${TOKEN_CHUNK}${last}`);
    return void setTimeout(() => write(LAST_CHUNK), stream.lateMs);
  };
  const timer = setInterval(step, stream.intervalMs);
  const stop = (): void => {
    clearInterval(timer);
    socket.off('close', stop);
  };
  socket.on('close', stop);
  step();
  // An interval of nothing is no pace.
  if (stream.intervalMs === 0) while (left > 0) step();
}

const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

const choice = (delta: object, finish: string | null = null): object => ({
  index: 0,
  delta,
  finish_reason: finish,
});

const event = (fields: object): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'bench',
    ...fields,
  })}\n\n`;

const usageEvent = (tokens: number): string =>
  event({
    choices: [],
    usage: { prompt_tokens: 30, completion_tokens: tokens, total_tokens: 30 + tokens },
  });

const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

const TOKEN_CHUNK = chunked(event({ choices: [choice({ content: TOKEN })] }));
