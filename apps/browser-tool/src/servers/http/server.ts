import { createServer } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { describeError, type Log } from '@model-gateway/kernel';
import type { BrowserTool } from '../../app.ts';
import { batchParams, runBatch } from '../../commands/batch.ts';
import type { Command, CommandData } from '../../commands/command.ts';
import { commands } from '../../commands/index.ts';
import { parseParams, type ParamStyle } from '../../commands/parse-params.ts';
import { screenshot } from '../../commands/screenshot.ts';
import { HTTP_STATUS, ToolError } from '../../errors.ts';
import { wellFormed } from '../../well-formed.ts';
import { checkAccess } from './access.ts';
import { readJsonBody } from './body.ts';
import { createDebugMetrics } from './debug-metrics.ts';
import { streamEvents } from './events.ts';
import { healthData, infoData } from './info.ts';
import { listen, portOf, stopListening, type ListenAddress } from './listen.ts';

const BODY_STYLE: ParamStyle = { isSnake: true, isStrict: false, isText: false };
const QUERY_STYLE: ParamStyle = { isSnake: true, isStrict: false, isText: true };

interface ServerOptions extends ListenAddress {
  readonly tool: BrowserTool;
  readonly log: Log;
}

/** The debug server: every command as an HTTP route. */
export interface DebugServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts the server. */
export async function startDebugServer({
  tool,
  host,
  port,
  log,
}: ServerOptions): Promise<DebugServer> {
  const stopping = new AbortController();
  const app = createApp({
    tool,
    log,
    port: () => portOf(server),
    stopping: stopping.signal,
  });
  const server = createServer(app);
  const listening = await listen(server, { host, port });
  return {
    port: listening,
    async close() {
      stopping.abort();
      await stopListening(server);
    },
  };
}

interface AppOptions {
  readonly tool: BrowserTool;
  readonly log: Log;
  readonly port: () => number;
  readonly stopping: AbortSignal;
}

function createApp({ tool, log, port, stopping }: AppOptions): Express {
  const { token, allowedHosts } = tool.config;
  const metrics = createDebugMetrics(tool.session);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((request: Request, response: Response, next: NextFunction) => {
    metrics.track(request, response);
    next();
  });
  app.use((request: Request, response: Response, next: NextFunction) => {
    response.setHeader('cache-control', 'no-store');
    response.setHeader('x-content-type-options', 'nosniff');
    checkAccess(request.headers, { port, allowedHosts, token });
    next();
  });
  const routes: Route[] = [
    { method: 'GET', path: '/health', handle: () => healthData(tool) },
    { method: 'GET', path: '/info', handle: () => infoData(tool, port()) },
    { method: 'POST', path: '/batch', handle: (request, signal) => batch(tool, request, signal) },
    ...commands.flatMap((each) =>
      each.http === undefined ? [] : [commandRoute(tool, each, each.http)],
    ),
  ];
  for (const route of routes) {
    const { method, path } = route;
    app[method === 'GET' ? 'get' : method === 'POST' ? 'post' : 'delete'](
      path,
      async (request: Request, response: Response) => {
        const data = await route.handle(request, disconnectSignal(response));
        sendData(request, response, data);
      },
    );
  }
  app.get('/events', (request, response) =>
    streamEvents(tool.session.captures.events, request, response, stopping),
  );
  app.get('/metrics', async (_request, response) => {
    response.setHeader('content-type', metrics.contentType);
    response.end(await metrics.expose());
  });
  const listed = [
    ...routes.map(({ method, path }) => [method, path] as const),
    ['GET', '/events'] as const,
    ['GET', '/metrics'] as const,
  ];
  for (const path of new Set(listed.map(([, each]) => each))) {
    app.all(path, (request, response) => {
      const allowed = listed.filter(([, each]) => each === path).map(([method]) => method);
      response.setHeader('allow', allowed.join(', '));
      throw new ToolError(
        'METHOD_NOT_ALLOWED',
        `${request.path} does not support ${request.method}.`,
        {
          hint: `Use ${allowed.join(' or ')}.`,
          details: { allowed },
        },
      );
    });
  }
  app.use((request: Request) => {
    throw new ToolError('NOT_FOUND', `No route ${request.method} ${request.path}.`, {
      hint: 'details.routes lists all routes.',
      details: { routes: listed.map((route) => route.join(' ')) },
    });
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    sendError(response, error, log);
  });
  return app;
}

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  handle(request: Request, signal: AbortSignal): CommandData | Promise<CommandData>;
}

function commandRoute(
  tool: BrowserTool,
  command: Command,
  { method, path }: NonNullable<Command['http']>,
): Route {
  return {
    method,
    path,
    async handle(request, signal) {
      const isQuery = method !== 'POST';
      const given = isQuery
        ? { ...request.query, ...request.params }
        : withFormat(request, await readJsonBody(request));
      const style = isQuery ? QUERY_STYLE : BODY_STYLE;
      const { params, ignored } = parseParams(command, command.params, given, style);
      const data = await command.run(params, tool.context(signal));
      return ignored.length === 0 ? data : { ...data, ignored_fields: ignored };
    },
  };
}

/** Uses the first image format of the Accept header if it does not include PNG. */
function withFormat({ path, headers: { accept = '' } }: Request, body: unknown): unknown {
  const isShot = path === screenshot.http?.path && typeof body === 'object' && body !== null;
  const format = /\bimage\/(jpeg|webp)\b/.exec(accept)?.[1];
  if (!isShot || Array.isArray(body) || format === undefined) return body;
  return /\bimage\/(png|\*)/.test(accept) ? body : { format, ...body };
}

async function batch(
  tool: BrowserTool,
  request: Request,
  signal: AbortSignal,
): Promise<CommandData> {
  const { params } = parseParams(
    { name: 'batch' },
    batchParams,
    await readJsonBody(request),
    BODY_STYLE,
  );
  return tool.session.exclusive((run) =>
    runBatch(commands, params, tool.context(signal, run), BODY_STYLE),
  );
}

/** Aborted when the client disconnects before the response is complete. */
function disconnectSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

function sendData(request: Request, response: Response, data: CommandData): void {
  const { data: image, mime_type: type } = data;
  const wantsImage = /(^|,)\s*image\//.test(request.headers.accept ?? '');
  if (wantsImage && typeof image === 'string' && typeof type === 'string') {
    response.type(type).send(Buffer.from(image, 'base64'));
    return;
  }
  response.json({ ok: true, data: wellFormed(data) });
}

function sendError(response: Response, error: unknown, log: Log): void {
  if (response.headersSent) {
    response.end();
    return;
  }
  const known = error instanceof ToolError ? error : unexpected(error);
  if (known.code === 'INTERNAL') log.error({ error }, 'a request failed');
  const answer = {
    ok: false,
    error: known.sentence,
    code: known.code,
    ...(known.hint === undefined ? {} : { hint: known.hint }),
    ...(known.details === undefined ? {} : { details: known.details }),
  };
  response.status(HTTP_STATUS[known.code]).json(wellFormed(answer));
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
