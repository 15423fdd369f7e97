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

/** The lean routes of an app. */
export interface LeanRoutes {
  readonly paths: ReadonlySet<string>;
  /** Finds the route of a path and runs it; false when there is none, and the framework is to answer. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): boolean;
}

export function createLeanRoutes(routes: readonly LeanRoute[], onError: OnError): LeanRoutes {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return {
    paths: new Set(byPath.keys()),
    answer(path, request, response) {
      const route = byPath.get(path);
      if (route === undefined) return false;
      const answered = ANSWERED[route.method];
      if (answered.includes(request.method ?? '')) {
        route
          .handle(request, response)
          .catch((error: unknown) => onError(error, request, response));
      } else {
        response.setHeader('allow', answered.join(', '));
        onError(
          new ServiceError('method_not_allowed', `use ${route.method} ${path}`),
          request,
          response,
        );
      }
      return true;
    },
  };
}
