import { BodyError, readBody } from '@model-gateway/demo-model/answers';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createChanges, type Changes } from '../recording/changes.ts';
import { createRequestLog, type RequestLog } from '../recording/request-log.ts';
import { createExchange, type Exchange } from './exchange.ts';
import { extend } from './extend.ts';
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

export async function startHttpServer(
  options: HttpServerOptions,
  handle: (exchange: Exchange) => Promise<void> | void,
  changes: Changes = createChanges(),
): Promise<RunningHttpServer> {
  const log = createRequestLog(options.keepRequests);
  let aborted = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { body, bytes, text } = await readBody(request);
    if (request.socket.destroyed) return;
    const exchange = createExchange(request, response, body, () => {
      if (listener.closing) return;
      aborted += 1;
      changes.notify();
    });
    log.record({
      method: exchange.method,
      path: exchange.path,
      query: Object.fromEntries(exchange.query),
      headers: request.headers,
      body: exchange.json ?? text,
      bodyBytes: bytes,
    });
    changes.notify();
    await handle(exchange);
    changes.notify();
  }

  const listener = await listen((request, response) => {
    serve(request, response).catch((error: unknown) => {
      // The client disconnected during its request, or a handler failed.
      if (response.headersSent) response.destroy();
      else if (!(error instanceof BodyError)) response.writeHead(500).end();
      else response.writeHead(error.status, { connection: 'close' }).end(error.message);
    });
  }, options);

  return extend(extend(runningServer('http', listener, changes), log), {
    get aborted() {
      return aborted;
    },
  });
}
