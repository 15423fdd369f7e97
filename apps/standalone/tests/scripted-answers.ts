import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer of an upstream, as its bytes. */
export interface ScriptedAnswer {
  readonly type: 'application/json' | 'text/event-stream' | 'application/x-ndjson';
  readonly body: string;
}

/** An upstream that answers every request with what a test sets; it serves `scripted`, as an API and as a local server. */
export interface ScriptedAnswers {
  readonly url: string;
  setAnswer(answer: ScriptedAnswer): void;
  close(): Promise<void>;
}

const JSON_TYPE = 'application/json';
const LISTINGS: Readonly<Record<string, object>> = {
  '/v1/models': { data: [{ id: 'scripted' }] },
  '/api/tags': { models: [{ name: 'scripted-local' }] },
};

export async function startScriptedAnswers(): Promise<ScriptedAnswers> {
  let scripted: ScriptedAnswer = { type: JSON_TYPE, body: '{}' };
  const send = (response: ServerResponse, { type, body }: ScriptedAnswer): void => {
    response.setHeader('content-type', type);
    // Without a length, so that the answer is known to be too long only while it arrives.
    response.write(body);
    response.end();
  };
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    request.resume();
    // The gateway hangs up on an answer that is too long.
    response.on('error', () => undefined);
    request.on('end', () => {
      const listing = LISTINGS[request.url ?? ''];
      if (listing === undefined) send(response, scripted);
      else send(response, { type: JSON_TYPE, body: JSON.stringify(listing) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    setAnswer: (answer) => (scripted = answer),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
