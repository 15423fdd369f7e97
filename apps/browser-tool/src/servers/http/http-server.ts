import { createServer } from 'node:http';
import express, { type NextFunction, type Request, type Response } from 'express';
import { describeError, type Log } from '@model-gateway/kernel';
import { HTTP_STATUS, ToolError } from '../../errors.ts';
import { wellFormed } from '../../well-formed.ts';
import { checkAccess, type AccessRules } from './access.ts';
import { listen, portOf, stopListening, type ListenAddress } from './listen.ts';

/** One method of one path. What it throws becomes the response. */
export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly handle: (request: Request, response: Response) => void | Promise<void>;
}

interface HttpServerOptions extends ListenAddress, Pick<AccessRules, 'token' | 'allowedHosts'> {
  readonly routes: readonly HttpRoute[];
  /** The next step after a request to a path that does not exist. */
  readonly unknownPath: ConstructorParameters<typeof ToolError>[2];
  /** The body of an error response. */
  readonly errorBody: (error: ToolError) => object;
  readonly log: Log;
}

/** A server with the access rules of the tool. */
export interface HttpServer {
  readonly port: number;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Starts a server with these routes. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { routes, unknownPath, errorBody, token, allowedHosts, log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((request: Request, response: Response, next: NextFunction) => {
    response.setHeader('cache-control', 'no-store');
    response.setHeader('x-content-type-options', 'nosniff');
    checkAccess(request.headers, { port: () => portOf(server), allowedHosts, token });
    next();
  });
  const methods = { GET: 'get', POST: 'post', DELETE: 'delete' } as const;
  for (const { method, path, handle } of routes) app[methods[method]](path, handle);
  for (const path of new Set(routes.map((route) => route.path))) {
    const allowed = routes.filter((route) => route.path === path).map(({ method }) => method);
    app.all(path, (request, response) => {
      response.setHeader('allow', allowed.join(', '));
      throw new ToolError(
        'METHOD_NOT_ALLOWED',
        `${request.path} does not support ${request.method}.`,
        { hint: `Use ${allowed.join(' or ')}.`, details: { allowed } },
      );
    });
  }
  app.use(({ method, path }: Request) => {
    throw new ToolError('NOT_FOUND', `No route ${method} ${path}.`, unknownPath);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const known = error instanceof ToolError ? error : unexpected(error);
    if (known.code === 'INTERNAL') log.error({ error }, 'a request failed');
    if (known.code === 'UNAUTHORIZED') response.setHeader('www-authenticate', 'Bearer');
    response.status(HTTP_STATUS[known.code]).json(wellFormed(errorBody(known)));
  });
  const server = createServer(app);
  const port = await listen(server, options);
  return { port, close: () => stopListening(server) };
}

function unexpected(error: unknown): ToolError {
  // A path such as /network/%E0 cannot be decoded.
  if (error instanceof URIError) {
    return new ToolError('INVALID_ARGUMENT', 'The path is not correctly encoded.', {
      hint: 'Percent-encode it as UTF-8.',
    });
  }
  return new ToolError('INTERNAL', describeError(error), { cause: error });
}
