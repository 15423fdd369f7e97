import { createServer } from 'node:http';
import { once } from 'node:events';
import { createGate, waitUntil } from '@model-gateway/testkit';

/** A chat upstream that answers only when the test says so. */
export interface SlowUpstream {
  readonly url: string;
  /** How many requests wait for their answer. */
  waiting(): number;
  /** How many requests waited at the same time, at most. */
  most(): number;
  untilWaiting(count: number): Promise<void>;
  /** Answers all requests, those that wait and those that follow. */
  answerAll(): void;
  close(): Promise<void>;
}

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** Every answer uses two tokens, unless the test says otherwise. */
export async function startSlowUpstream(model: string, usage = USAGE): Promise<SlowUpstream> {
  const gate = createGate();
  let waiting = 0;
  let most = 0;
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const send = (body: unknown): void => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    };
    if (request.method === 'GET') {
      send({ object: 'list', data: [{ id: model, object: 'model' }] });
      return;
    }
    waiting += 1;
    most = Math.max(most, waiting);
    let isWaiting = true;
    // Before the answer is sent: its receiver may be faster than the event of its end.
    const end = (): void => {
      if (isWaiting) waiting -= 1;
      isWaiting = false;
    };
    response.once('close', end);
    const message = { role: 'assistant', content: 'ok' };
    const choices = [{ index: 0, finish_reason: 'stop', message }];
    request.resume();
    void gate.opened.then(() => {
      end();
      send({ id: 'c', object: 'chat.completion', created: 1, model, choices, usage });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    waiting: () => waiting,
    most: () => most,
    untilWaiting: (count) =>
      waitUntil(async () => waiting >= count, { what: `${count} waiting requests` }),
    answerAll: () => gate.open(),
    async close() {
      gate.open();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
