import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import { isError, type Log } from '@model-gateway/kernel';
import express, { type ErrorRequestHandler, type Router } from 'express';
import { noRoute } from './responses/no-route.ts';
import { sendRestError } from './responses/rest-errors.ts';

interface ExpressAppOptions {
  readonly routes: Router;
  readonly trustProxy: string;
  readonly log: Log;
}

/** The Express app of a server: its routes, then one handler for unknown paths and one for thrown errors. */
export function createExpressApp({ routes, trustProxy, log }: ExpressAppOptions) {
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trustProxyOf(trustProxy));
  app.use(routes);
  app.use((request) => {
    throw noRoute(request.method, request.path);
  });
  const onError: ErrorRequestHandler = (error, request, response, _next) => {
    sendRestError(fromExpress(error), request, response, log);
  };
  app.use(onError);
  return (request: IncomingMessage, response: ServerResponse): void => {
    app(request, response);
  };
}

// Express accepts a number of hops, a boolean, or a list of addresses and names.
function trustProxyOf(text: string): string | number | boolean {
  if (/^\d+$/.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  return text;
}

/** Express reports client mistakes, such as a malformed path, as errors with a 4xx status. */
function fromExpress(error: unknown): unknown {
  if (error instanceof ServiceError || !isError(error) || !('status' in error)) return error;
  const refused = typeof error.status === 'number' && error.status >= 400 && error.status < 500;
  return refused ? new ServiceError('invalid_request', error.message, { cause: error }) : error;
}
