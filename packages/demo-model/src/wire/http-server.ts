import { StringDecoder } from 'node:string_decoder';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createChanges, type Changes } from '../recording/changes.ts';
import { createRequestLog, type RequestLog } from '../recording/request-log.ts';
import { createExchange, type Exchange } from './exchange.ts';
import { extend } from './extend.ts';
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
    const body = await readBody(request);
    if (body === undefined) {
      response.writeHead(413, { connection: 'close' }).end();
      return;
    }
    const json = await parseBody(body);
    if (request.socket.destroyed) return;
    const exchange = createExchange(request, response, json, () => {
      if (listener.closing) return;
      aborted += 1;
      changes.notify();
    });
    log.record({
      method: exchange.method,
      path: exchange.path,
      query: Object.fromEntries(exchange.query),
      headers: request.headers,
      body: exchange.json ?? body.toString(),
      bodyBytes: body.length,
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
