import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';

/** A route that is answered without a framework in between: for paths where its cost per request would show. */
export interface LeanRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

type OnError = (error: unknown, request: IncomingMessage, response: ServerResponse) => void;

/** Finds the lean route of a path and runs it; false when there is none, and the framework is to answer. */
export function createLeanRoutes(routes: readonly LeanRoute[], onError: OnError) {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return (path: string, request: IncomingMessage, response: ServerResponse): boolean => {
    const route = byPath.get(path);
    if (route === undefined) return false;
    if (request.method === route.method) {
      route.handle(request, response).catch((error: unknown) => onError(error, request, response));
    } else {
      response.setHeader('allow', route.method);
      onError(
        new ServiceError('method_not_allowed', `use ${route.method} ${path}`),
        request,
        response,
      );
    }
    return true;
  };
}
