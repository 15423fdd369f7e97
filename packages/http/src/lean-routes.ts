import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';

/** A route that is answered without a framework in between: for paths where its cost per request would show. */
export interface LeanRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** What is asked with HEAD is answered like GET; Node leaves the body out. */
const ANSWERED: Readonly<Record<LeanRoute['method'], readonly string[]>> = {
  GET: ['GET', 'HEAD'],
  POST: ['POST'],
};

type OnError = (error: unknown, request: IncomingMessage, response: ServerResponse) => void;

/** Finds the lean route of a path and runs it; false when there is none, and the framework is to answer. */
export function createLeanRoutes(routes: readonly LeanRoute[], onError: OnError) {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return (path: string, request: IncomingMessage, response: ServerResponse): boolean => {
    const route = byPath.get(path);
    if (route === undefined) return false;
    const answered = ANSWERED[route.method];
    if (answered.includes(request.method ?? '')) {
      route.handle(request, response).catch((error: unknown) => onError(error, request, response));
    } else {
      response.setHeader('allow', answered.join(', '));
      onError(
        new ServiceError('method_not_allowed', `use ${route.method} ${path}`),
        request,
        response,
      );
    }
    return true;
  };
}
