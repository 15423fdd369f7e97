import type { Request, Response } from 'express';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '@model-gateway/kernel';
import type { BrowserTool } from '../../app.ts';
import { errorAnswer, ToolError, type ToolErrorCode } from '../../errors.ts';
import { TOOL_VERSION } from '../../version.ts';
import { createHttpSessions, type HttpSessions } from '../mcp/http-sessions.ts';
import type { AccessRules } from './access.ts';
import { readJsonBody } from './body.ts';
import { startHttpServer, type HttpServer } from './http-server.ts';
import type { ListenAddress } from './listen.ts';

interface McpServerOptions extends ListenAddress, Pick<AccessRules, 'token' | 'allowedHosts'> {
  /** Creates the browser of a session. */
  readonly createTool: () => BrowserTool;
  readonly sessionsMax: number;
  readonly idleMs: number;
  readonly log: Log;
}

const ENDPOINT = '/mcp';
const SERVER_ERROR = -32_000;
const RPC_CODES: Partial<Record<ToolErrorCode, number>> = {
  INVALID_JSON: -32_700,
  SESSION_NOT_FOUND: -32_001,
};

/** Starts a server for MCP over Streamable HTTP. Its end ends all sessions with their browsers. */
export async function startMcpHttpServer(options: McpServerOptions): Promise<HttpServer> {
  const sessions = createHttpSessions(options);
  const startedAt = Date.now();
  const handle = (request: Request, response: Response): Promise<void> =>
    handleMcp(request, response, sessions);
  const server = await startHttpServer({
    ...options,
    routes: [
      { method: 'GET', path: ENDPOINT, handle },
      { method: 'POST', path: ENDPOINT, handle },
      { method: 'DELETE', path: ENDPOINT, handle },
      {
        method: 'GET',
        path: '/health',
        handle(_request, response) {
          const uptime = Math.round((Date.now() - startedAt) / 1000);
          const { count } = sessions;
          const data = {
            status: 'ok',
            version: TOOL_VERSION,
            uptime_secs: uptime,
            sessions: count,
          };
          response.json({ ok: true, data });
        },
      },
    ],
    unknownPath: { hint: `MCP is at ${ENDPOINT}.` },
    errorBody: rpcError,
  });
  return {
    port: server.port,
    async close() {
      await sessions.close();
      await server.close();
    },
  };
}

async function handleMcp(
  request: Request,
  response: Response,
  sessions: HttpSessions,
): Promise<void> {
  const id = request.headers['mcp-session-id'];
  const known = typeof id === 'string' ? sessions.get(id) : undefined;
  const body = request.method === 'POST' ? await readJsonBody(request) : undefined;
  if (known !== undefined) return known.serve(request, response, body);
  if (!isInitialize(body)) {
    throw new ToolError('INVALID_ARGUMENT', 'The Mcp-Session-Id header is missing.', {
      hint: 'Send initialize first, then the header of its response with every request.',
    });
  }
  const session = await sessions.open(request.headers.accept);
  try {
    await session.serve(request, response, body);
  } finally {
    if (!session.isInitialized) await session.end('its first request was invalid');
  }
}

function isInitialize(body: unknown): boolean {
  return isInitializeRequest(Array.isArray(body) && body.length === 1 ? body[0] : body);
}

/** An error that concerns the whole HTTP request, as a JSON-RPC error without an id. */
function rpcError(error: ToolError): object {
  const { error: message, ...data } = errorAnswer(error);
  const code = RPC_CODES[error.code] ?? SERVER_ERROR;
  return { jsonrpc: '2.0', id: null, error: { code, message, data } };
}
