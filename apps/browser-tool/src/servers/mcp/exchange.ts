import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';

// The transport routes nothing by its address.
const ADDRESS = 'http://localhost/mcp';
const BOTH_FORMS = 'application/json, text/event-stream';
const EITHER_FORM = /^$|application\/(json|\*)|text\/(event-stream|\*)|\*\/\*/i;
const HEADERS = ['content-type', 'last-event-id', 'mcp-protocol-version', 'mcp-session-id'];

/**
 * Passes a request, whose body is parsed already, to the transport, and sends what it answers. The transport wants both forms of
 * answers by name; clients such as curl send a wildcard, or only the type that they get.
 */
export async function exchange(
  transport: WebStandardStreamableHTTPServerTransport,
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
): Promise<void> {
  const { accept = '' } = request.headers;
  const headers = new Headers({ accept: EITHER_FORM.test(accept) ? BOTH_FORMS : accept });
  for (const name of HEADERS) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  const { method = 'GET' } = request;
  const answer = await transport.handleRequest(new Request(ADDRESS, { method, headers }), {
    parsedBody: body,
  });
  await send(answer, response);
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) {
    response.end();
    return;
  }
  // The first event may come much later than the headers.
  response.flushHeaders();
  // A client that disconnects cancels the stream, which is no failure.
  await pipeline(Readable.fromWeb(answer.body), response).catch(() => undefined);
}
