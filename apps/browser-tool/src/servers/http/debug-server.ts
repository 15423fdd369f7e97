import type { Request, Response } from 'express';
import type { Log } from '@model-gateway/kernel';
import type { BrowserTool } from '../../app.ts';
import { batchParams, runBatch } from '../../commands/batch.ts';
import type { Command, CommandData } from '../../commands/command.ts';
import { commands } from '../../commands/index.ts';
import { parseParams, type ParamStyle } from '../../commands/parse-params.ts';
import { screenshot } from '../../commands/screenshot.ts';
import { errorAnswer } from '../../errors.ts';
import { wellFormed } from '../../well-formed.ts';
import { readJsonBody } from './body.ts';
import { streamEvents } from './events.ts';
import { startHttpServer, type HttpRoute, type HttpServer } from './http-server.ts';
import { healthData, infoData } from './info.ts';
import type { ListenAddress } from './listen.ts';

const BODY_STYLE: ParamStyle = { isSnake: true, isStrict: false, isText: false };
const QUERY_STYLE: ParamStyle = { isSnake: true, isStrict: false, isText: true };

interface ServerOptions extends ListenAddress {
  readonly tool: BrowserTool;
  readonly log: Log;
}

/** Starts the debug server: every command as an HTTP route. */
export async function startDebugServer({ tool, log, ...address }: ServerOptions) {
  const stopping = new AbortController();
  let port = 0;
  const routes: readonly HttpRoute[] = [
    dataRoute('GET', '/health', () => healthData(tool)),
    dataRoute('GET', '/info', () => infoData(tool, port)),
    dataRoute('POST', '/batch', (request, signal) => batch(tool, request, signal)),
    ...commands.flatMap((each) =>
      each.http === undefined ? [] : [commandRoute(tool, each, each.http)],
    ),
    {
      method: 'GET',
      path: '/events',
      handle: (request, response) =>
        streamEvents(tool.session.captures.events, request, response, stopping.signal),
    },
  ];
  const server: HttpServer = await startHttpServer({
    ...address,
    token: tool.config.token,
    allowedHosts: tool.config.allowedHosts,
    routes,
    unknownPath: {
      hint: 'details.routes lists all routes.',
      details: { routes: routes.map(({ method, path }) => `${method} ${path}`) },
    },
    errorBody: (error) => ({ ok: false, ...errorAnswer(error) }),
    log,
  });
  ({ port } = server);
  return {
    port,
    close(): Promise<void> {
      stopping.abort();
      return server.close();
    },
  };
}

/** A route that answers with data, which it computes until the client disconnects. */
function dataRoute(
  method: HttpRoute['method'],
  path: string,
  compute: (request: Request, signal: AbortSignal) => CommandData | Promise<CommandData>,
): HttpRoute {
  return {
    method,
    path,
    async handle(request, response) {
      sendData(request, response, await compute(request, disconnectSignal(response)));
    },
  };
}

function commandRoute(
  tool: BrowserTool,
  command: Command,
  { method, path }: NonNullable<Command['http']>,
): HttpRoute {
  return dataRoute(method, path, async (request, signal) => {
    const isQuery = method !== 'POST';
    const given = isQuery
      ? { ...request.query, ...request.params }
      : withFormat(request, await readJsonBody(request));
    const style = isQuery ? QUERY_STYLE : BODY_STYLE;
    const { params, ignored } = parseParams(command, command.params, given, style);
    const data = await command.run(params, tool.context(signal));
    return ignored.length === 0 ? data : { ...data, ignored_fields: ignored };
  });
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
  const given = await readJsonBody(request);
  const { params } = parseParams({ name: 'batch' }, batchParams, given, BODY_STYLE);
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
