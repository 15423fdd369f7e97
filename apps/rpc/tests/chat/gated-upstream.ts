import { once } from 'node:events';
import { createServer } from 'node:http';
import { createGate } from '@model-gateway/testkit';

/** A chat upstream whose streams begin only when the test opens them. */
export interface GatedUpstream {
  readonly url: string;
  open(): void;
  close(): Promise<void>;
}

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

export async function startGatedUpstream(model: string): Promise<GatedUpstream> {
  const gate = createGate();
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: [{ id: model, object: 'model' }] }));
      return;
    }
    request.resume();
    void gate.opened.then(() => {
      response.setHeader('content-type', 'text/event-stream');
      const choices = [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }];
      response.write(`data: ${JSON.stringify({ id: 'c', model, choices })}\n\n`);
      response.write(`data: ${JSON.stringify({ id: 'c', model, choices: [], usage: USAGE })}\n\n`);
      response.end('data: [DONE]\n\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    open: () => gate.open(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
