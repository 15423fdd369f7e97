import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { DEMO_MODELS, listModels, operationAt, REFUSALS, type JsonAnswer } from './demo-api.ts';
import type { Chunk } from './operations/operation.ts';
import { OPERATIONS } from './operations/operations.ts';
import { BodyError, readBody } from './wire/body.ts';
import { asObject, asText } from './wire/json.ts';

/** The options of the demo model. */
export interface DemoOptions {
  /** By default a free port of 127.0.0.1. */
  readonly port?: number;
  /** The required bearer key; none by default. */
  readonly apiKey?: string;
  /** The pause before each chunk of a stream after the first; none by default. */
  readonly tokenDelayMs?: number;
}

/** A running demo model. */
export interface RunningDemo {
  readonly url: string;
  /** Stops listening and closes every connection. */
  close(): Promise<void>;
}

// Long enough that a client's pooled connection is not closed while it sends a request.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Starts the demo model as an HTTP server. */
export async function startDemoModel(options: DemoOptions = {}): Promise<RunningDemo> {
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, requestTimeout: 0 },
    (request, response) => {
      serve(request, response, options).catch(() => {
        // The client disconnected.
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      });
    },
  );
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { apiKey, tokenDelayMs = 0 }: DemoOptions,
): Promise<void> {
  const { method = 'GET' } = request;
  const { pathname } = new URL(request.url ?? '/', 'http://demo.invalid');
  const name = operationAt(method, pathname);
  if (name === undefined) return sendJson(response, REFUSALS.path(method, pathname));
  if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`)
    return sendJson(response, REFUSALS.key());
  if (name === 'models') return sendJson(response, listModels(DEMO_MODELS, pathname));
  const read = await readBody(request).catch(asBodyError);
  if (read instanceof BodyError) {
    response.setHeader('connection', 'close');
    return sendJson(response, { ...REFUSALS.request(read.message), status: read.status });
  }
  const body = asObject(read.body);
  const model = asText(body.model) ?? '';
  if (!DEMO_MODELS.includes(model)) return sendJson(response, REFUSALS.model(model));
  const reply = await OPERATIONS[name]({ model, body, withUsage: true });
  if (typeof reply === 'string') return sendJson(response, REFUSALS.request(reply));
  if ('content' in reply) return send(response, 200, reply.contentType, reply.content);
  response.writeHead(200, { 'content-type': reply.contentType, 'cache-control': 'no-cache' });
  return pipeline(paced(reply.chunks, tokenDelayMs), response);
}

async function* paced(chunks: Iterable<Chunk>, delayMs: number): AsyncGenerator<string> {
  let isFirst = true;
  for (const { text } of chunks) {
    if (!isFirst && delayMs > 0) await pause(delayMs);
    isFirst = false;
    yield text;
  }
}

function asBodyError(error: unknown): BodyError {
  if (error instanceof BodyError) return error;
  throw error;
}

const sendJson = (response: ServerResponse, { status, body }: JsonAnswer): void =>
  send(response, status, 'application/json', Buffer.from(JSON.stringify(body)));

function send(response: ServerResponse, status: number, type: string, content: Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': content.length });
  response.end(content);
}
