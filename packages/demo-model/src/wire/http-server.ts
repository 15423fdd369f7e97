import { StringDecoder } from 'node:string_decoder';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createChanges, type Changes } from '../recording/changes.ts';
import { createRequestLog, type RequestLog } from '../recording/request-log.ts';
import { createExchange, type Exchange } from './exchange.ts';
import { extend } from './extend.ts';
import { FormError, isForm, readForm } from './form.ts';
import { parseJson } from './json.ts';
import { listen, type ListenOptions } from './listener.ts';
import { runningServer, type RunningServer } from './running-server.ts';

/** The options of an HTTP server. */
export interface HttpServerOptions extends ListenOptions {
  /** How many requests are stored; 0 only counts them. */
  readonly keepRequests?: number;
}

/** An HTTP server that records requests and clients that disconnect. */
export interface RunningHttpServer extends RunningServer, Omit<RequestLog, 'record'> {
  /** Requests whose client disconnected before the response was complete. */
  readonly aborted: number;
}

const BODY_BYTES_MAX = 64 * 1024 * 1024;
const STEP_BYTES = 1024 * 1024;

export async function startHttpServer(
  options: HttpServerOptions,
  handle: (exchange: Exchange) => Promise<void> | void,
  changes: Changes = createChanges(),
): Promise<RunningHttpServer> {
  const log = createRequestLog(options.keepRequests);
  let aborted = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const type = request.headers['content-type'];
    const body = await (isForm(type) ? readUpload(type, request, response) : readJson(request));
    if (body === undefined) {
      if (!response.headersSent) response.writeHead(413, { connection: 'close' }).end();
      return;
    }
    if (request.socket.destroyed) return;
    const exchange = createExchange(request, response, body.json, () => {
      if (listener.closing) return;
      aborted += 1;
      changes.notify();
    });
    log.record({
      method: exchange.method,
      path: exchange.path,
      query: Object.fromEntries(exchange.query),
      headers: request.headers,
      body: exchange.json ?? body.text(),
      bodyBytes: body.bytes,
    });
    changes.notify();
    await handle(exchange);
    changes.notify();
  }

  const listener = await listen((request, response) => {
    serve(request, response).catch(() => {
      // The client disconnected during its request, or a handler failed.
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  }, options);

  return extend(extend(runningServer('http', listener, changes), log), {
    get aborted() {
      return aborted;
    },
  });
}

interface Body {
  /** The parsed JSON, or the fields of an upload; undefined if it is neither. */
  readonly json: unknown;
  readonly bytes: number;
  text(): string;
}

async function readJson(request: IncomingMessage): Promise<Body | undefined> {
  const body = await readBody(request);
  if (body === undefined) return undefined;
  return { json: await parseBody(body), bytes: body.length, text: () => body.toString() };
}

/** The fields of an upload; one that is not valid gets its response here. */
async function readUpload(
  contentType: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Body | undefined> {
  try {
    const { fields, bytes } = await readForm(contentType, request);
    return { json: fields, bytes, text: () => '' };
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    const body = { error: { message: error.message, type: 'invalid_request_error' } };
    response.writeHead(error.status, { connection: 'close', 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
    return undefined;
  }
}

/** Parses a large body in steps, because the demo model may share a process with a gateway. */
async function parseBody(body: Buffer): Promise<unknown> {
  if (body.length === 0) return undefined;
  if (body.length <= STEP_BYTES) return parseJson(body.toString());
  const decoder = new StringDecoder('utf8');
  const parts: string[] = [];
  for (let at = 0; at < body.length; at += STEP_BYTES) {
    parts.push(decoder.write(body.subarray(at, at + STEP_BYTES)));
    await yieldToEventLoop();
  }
  const json = parseJson(parts.join('') + decoder.end());
  await yieldToEventLoop();
  return json;
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    if (!Buffer.isBuffer(part)) continue;
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
