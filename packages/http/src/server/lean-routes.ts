import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import type { ErrorWriter } from '../responses/rest-errors.ts';

/** A route served without Express, for paths where the cost of the framework per request is noticeable. */
export interface LeanRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** How errors look in the API of this route, where they differ from those of the other routes. */
  readonly writeError?: ErrorWriter;
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** HEAD is handled like GET; Node omits the body. */
const ALLOWED_METHODS: Readonly<Record<LeanRoute['method'], readonly string[]>> = {
  GET: ['GET', 'HEAD'],
  POST: ['POST'],
};

type OnError = (
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  route: LeanRoute,
) => void;

/** The lean routes of an app. */
export interface LeanRoutes {
  readonly paths: ReadonlySet<string>;
  /** Runs the route of a path; false when there is none, and Express handles the request. */
  handle(path: string, request: IncomingMessage, response: ServerResponse): boolean;
}

export function createLeanRoutes(routes: readonly LeanRoute[], onError: OnError): LeanRoutes {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return {
    paths: new Set(byPath.keys()),
    handle(path, request, response) {
      const route = byPath.get(path);
      if (route === undefined) return false;
      const allowed = ALLOWED_METHODS[route.method];
      if (allowed.includes(request.method ?? '')) {
        route
          .handle(request, response)
          .catch((error: unknown) => onError(error, request, response, route));
      } else {
        response.setHeader('allow', allowed.join(', '));
        onError(
          new ServiceError('method_not_allowed', `use ${route.method} ${path}`),
          request,
          response,
          route,
        );
      }
      return true;
    },
  };
}
