import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A chat upstream that sends what a test says, and then nothing. */
export interface ScriptedUpstream {
  readonly url: string;
  /** The events of the next streams. */
  setEvents(events: readonly object[]): void;
  close(): Promise<void>;
}

/** It serves the model `scripted`. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  let script: readonly object[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.url === '/v1/models') sendJson(response, { data: [{ id: 'scripted' }] });
      else sendEvents(response, script);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    setEvents: (events) => (script = events),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function sendJson(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

function sendEvents(response: ServerResponse, events: readonly object[]): void {
  response.setHeader('content-type', 'text/event-stream');
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
}
