import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '@model-gateway/kernel';
import type { BrowserTool } from '../../app.ts';
import { checkAccess, type AccessRules } from '../http/access.ts';
import { readJsonBody } from '../http/body.ts';
import { listen, portOf, stopListening, type ListenAddress } from '../http/listen.ts';
import { ToolError } from '../../errors.ts';
import { TOOL_VERSION } from '../../version.ts';
import { answerForm } from './answer-form.ts';
import { createMcpSessions, type McpSessions } from './mcp-sessions.ts';
import { sendRpcError } from './rpc-error.ts';

interface McpHttpOptions extends ListenAddress, Pick<AccessRules, 'token' | 'allowedHosts'> {
  /** Creates the browser of a session. */
  readonly createTool: () => BrowserTool;
  readonly sessionsMax: number;
  readonly idleMs: number;
  readonly log: Log;
}

/** An MCP server over Streamable HTTP. */
export interface McpHttpServer {
  readonly port: number;
  /** Ends all sessions with their browsers and closes all connections. */
  close(): Promise<void>;
}

const ENDPOINT = '/mcp';
const HEALTH = '/health';
const METHODS: Readonly<Record<string, readonly string[]>> = {
  [ENDPOINT]: ['GET', 'POST', 'DELETE'],
  [HEALTH]: ['GET'],
};

/** Starts the server. */
export async function startMcpHttpServer(options: McpHttpOptions): Promise<McpHttpServer> {
  const { token, allowedHosts, log } = options;
  const sessions = createMcpSessions(options);
  const startedAt = Date.now();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('cache-control', 'no-store');
    response.setHeader('x-content-type-options', 'nosniff');
    checkAccess(request.headers, { port: () => portOf(server), allowedHosts, token });
    if (checkRoute(request, response) === ENDPOINT) return handleMcp(request, response, sessions);
    sendHealth(response, startedAt, sessions.count);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => sendRpcError(response, error, log));
  });
  const port = await listen(server, options);
  return {
    port,
    async close() {
      await sessions.close();
      await stopListening(server);
    },
  };
}

/** The path of a request; fails if there is no such path or it does not support the method. */
function checkRoute({ url = '', method = '' }: IncomingMessage, response: ServerResponse): string {
  const path = url.split('?')[0] ?? '';
  const allowed = METHODS[path];
  if (allowed === undefined) {
    throw new ToolError('NOT_FOUND', `No route ${method} ${path}.`, {
      hint: `MCP is at ${ENDPOINT}.`,
    });
  }
  if (!allowed.includes(method)) {
    response.setHeader('allow', allowed.join(', '));
    throw new ToolError('METHOD_NOT_ALLOWED', `${path} does not support ${method}.`, {
      hint: `Use ${allowed.join(' or ')}.`,
      details: { allowed },
    });
  }
  return path;
}

async function handleMcp(
  request: IncomingMessage,
  response: ServerResponse,
  sessions: McpSessions,
): Promise<void> {
  const id = request.headers['mcp-session-id'];
  if (typeof id === 'string') {
    const session = sessions.get(id);
    const body = request.method === 'POST' ? await readJsonBody(request) : undefined;
    return session.serve(request, response, body);
  }
  const body = request.method === 'POST' ? await readJsonBody(request) : undefined;
  if (!isInitialize(body)) {
    throw new ToolError('INVALID_ARGUMENT', 'The Mcp-Session-Id header is missing.', {
      hint: 'Send initialize first, then the header of its response with every request.',
    });
  }
  const session = await sessions.open(answerForm(request.headers.accept));
  try {
    await session.serve(request, response, body);
  } finally {
    if (!session.isInitialized) await session.end('its first request was invalid');
  }
}

function isInitialize(body: unknown): boolean {
  return isInitializeRequest(Array.isArray(body) && body.length === 1 ? body[0] : body);
}

function sendHealth(response: ServerResponse, startedAt: number, sessions: number): void {
  const uptime = Math.round((Date.now() - startedAt) / 1000);
  const data = { status: 'ok', version: TOOL_VERSION, uptime_secs: uptime, sessions };
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ ok: true, data }));
}
