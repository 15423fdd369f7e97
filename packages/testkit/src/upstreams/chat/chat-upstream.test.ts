import { startChatUpstream } from './chat-upstream.ts';

describe('what the chat-compatible upstream records', () => {
  it('keeps the newest requests, or none, and always counts', async () => {
    const upstream = await startChatUpstream({
      keepRequests: 2,
      answer: () => 'fine',
      basePath: '',
    });
    const silent = await startChatUpstream({ keepRequests: 0 });
    try {
      const look = (id: string): Promise<Response> =>
        fetch(`${upstream.url}/models?id=${id}`, { headers: { 'x-mark': id } });
      await look('a');
      await look('b');
      await look('c');
      expect(upstream.requestCount).toBe(3);
      expect(upstream.requests.map((request) => request.query)).toEqual([{ id: 'b' }, { id: 'c' }]);
      expect(upstream.lastRequest?.headers['x-mark']).toBe('c');
      await fetch(`${silent.url}/v1/models`);
      expect([silent.requestCount, silent.requests.length]).toEqual([1, 0]);
    } finally {
      await Promise.all([upstream.close(), silent.close()]);
    }
  });

  it('keeps totals of all it served, by the request id of the caller', async () => {
    const upstream = await startChatUpstream({ answer: () => 'one two 三四' });
    try {
      const chat = (requestId: string): Promise<Response> =>
        fetch(`${upstream.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'x-request-id': requestId },
          body: JSON.stringify({
            model: 'demo-chat',
            max_tokens: 9,
            messages: [{ role: 'user', content: 'hi' }],
          }),
        });
      await chat('r1');
      await chat('r2');
      expect(upstream.served.map((entry) => entry.requestId)).toEqual(['r1', 'r2']);
      expect(upstream.totals).toEqual({
        requests: 2,
        completed: 2,
        promptTokens: 2,
        completionTokens: 8,
      });
    } finally {
      await upstream.close();
    }
  });

  it('knows what it sent of any operation, and its faults apply to each', async () => {
    const upstream = await startChatUpstream();
    try {
      const post = (path: string, body: object): Promise<Response> =>
        fetch(`${upstream.url}/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });
      const messages = [{ role: 'user', content: 'Hi' }];
      const chat = await post('chat/completions', { model: 'demo-chat', messages, n: 2 });
      const { id, usage } = (await chat.json()) as {
        readonly id: string;
        readonly usage: { readonly completion_tokens: number };
      };
      expect(upstream.served.at(-1)).toMatchObject({
        id,
        promptTokens: 1,
        completionTokens: usage.completion_tokens,
        completed: true,
      });
      const stream = await post('completions', { model: 'demo-chat', prompt: 'Hi', stream: true });
      const chunks = (await stream.text()).match(/"text":"[^"]/g);
      expect(upstream.served.at(-1)).toMatchObject({ completionTokens: chunks?.length });
      upstream.faults.next({ kind: 'status', status: 503 });
      expect((await post('rerank', { model: 'demo-rerank' })).status).toBe(503);
    } finally {
      await upstream.close();
    }
  });
});
