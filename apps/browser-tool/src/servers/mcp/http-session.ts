import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { withTimeout, yieldToEventLoop, type Log } from '@model-gateway/kernel';
import type { BrowserTool } from '../../app.ts';
import { createMcpServer } from './create-mcp-server.ts';
import { exchange } from './exchange.ts';

// A client that does not read its answers must not delay the end.
const FLUSH_TIMEOUT_MS = 1_000;
const CALL_CANCELLED = -32_800;

/** The session of one client, with a browser of its own. */
export interface HttpSession {
  /** When its last request ended, by `performance.now()`; undefined while a request or the event stream is open. */
  readonly idleSince: number | undefined;
  /** Whether the client's first request was valid. */
  readonly isInitialized: boolean;
  serve(request: IncomingMessage, response: ServerResponse, body?: unknown): Promise<void>;
  /** Ends its calls, its streams and its browser. Idempotent. */
  end(reason: string): Promise<void>;
}

interface SessionOptions {
  readonly id: string;
  readonly tool: BrowserTool;
  /** Whether its answers are JSON documents instead of event streams. */
  readonly isJson: boolean;
  readonly idleMs: number;
  /** Called when the session starts to end; it gets the promise of the end. */
  readonly onEnd: (ended: Promise<void>) => void;
  readonly log: Log;
}

/** Creates a session. Its browser starts with its first call: many clients connect to all their servers and call few of them. */
export function createHttpSession({
  id,
  tool,
  isJson,
  idleMs,
  onEnd,
  log,
}: SessionOptions): HttpSession {
  const open = new Set<ServerResponse>();
  let idleTimer: NodeJS.Timeout | undefined;
  let idleSince: number | undefined;
  let ended: Promise<void> | undefined;

  const server = createMcpServer(() => Promise.resolve(tool), { onCancel: answerCancelled });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    enableJsonResponse: isJson,
    onsessionclosed: () => end('the client ended it'),
  });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- The SDK has no other way.
  server.onerror = (error) => log.debug({ error }, 'an MCP message failed');
  const connected = server.connect(transport);

  /** Without an answer, the HTTP response of a cancelled call would stay open. */
  function answerCancelled(request: RequestId): void {
    const error = { code: CALL_CANCELLED, message: 'The client cancelled the call.' };
    // It fails if the session ends, which cancels its calls too.
    transport.send({ jsonrpc: '2.0', id: request, error }).catch(() => undefined);
  }

  function track(response: ServerResponse): void {
    open.add(response);
    clearTimeout(idleTimer);
    idleSince = undefined;
    response.once('close', () => {
      open.delete(response);
      if (open.size > 0 || ended !== undefined) return;
      idleSince = performance.now();
      idleTimer = setTimeout(() => void end('it was idle'), idleMs).unref();
    });
  }

  async function finish(): Promise<void> {
    clearTimeout(idleTimer);
    // First, so that clients still get the results of calls that fail because of it.
    await tool.close();
    await yieldToEventLoop();
    await server.close();
    // An answer that is not there by now is never sent.
    for (const response of open) if (!response.headersSent) response.destroy();
    const closed = [...open].map(
      (response) => new Promise((resolve) => response.once('close', resolve)),
    );
    await withTimeout(Promise.all(closed), FLUSH_TIMEOUT_MS, () => undefined);
    for (const response of open) response.destroy();
  }

  function end(reason: string): Promise<void> {
    if (ended === undefined) {
      log.info({ session: id, reason }, 'an MCP session ended');
      ended = finish().catch((error: unknown) =>
        log.warn({ session: id, error }, 'ending an MCP session failed'),
      );
      onEnd(ended);
    }
    return ended;
  }

  return {
    get idleSince() {
      return idleSince;
    },
    get isInitialized() {
      return transport.sessionId !== undefined;
    },
    async serve(request, response, body) {
      // It disconnected while its body was read.
      if (response.closed) return;
      // The request that ends a session is answered after the end.
      if (request.method !== 'DELETE') track(response);
      await connected;
      await exchange(transport, request, response, body);
    },
    end,
  };
}
