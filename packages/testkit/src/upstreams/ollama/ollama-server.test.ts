import { asList, asObject } from '@model-gateway/demo-model/answers';
import { startOllamaServer, type RunningOllamaServer } from './ollama-server.ts';

let server: RunningOllamaServer;
beforeEach(async () => {
  server = await startOllamaServer({ answer: () => 'one two three' });
});
afterEach(() => server.close());

function post(path: string, body: Readonly<Record<string, unknown>>): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: 'POST',
    body: JSON.stringify({ model: 'demo-local', ...body }),
  });
}
const chat = (body: Readonly<Record<string, unknown>> = {}): Promise<Response> =>
  post('/api/chat', { messages: [{ role: 'user', content: 'hello there' }], ...body });
const linesOf = async (response: Response): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  (await response.text())
    .trim()
    .split('\n')
    .map((line) => asObject(JSON.parse(line)));

describe('the Ollama-style server', () => {
  it('streams by default, a token a line, with the counts in the last', async () => {
    const response = await chat();
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = await linesOf(response);
    expect(lines.map((line) => asObject(line.message).content)).toEqual([
      'one',
      ' two',
      ' three',
      '',
    ]);
    expect(lines.map((line) => line.done)).toEqual([false, false, false, true]);
    expect(lines.at(-1)).toMatchObject({
      model: 'demo-local',
      done_reason: 'stop',
      prompt_eval_count: 2,
      eval_count: 3,
    });
    expect(server.totals).toMatchObject({ promptTokens: 2, completionTokens: 3, completed: 1 });
  });

  it('responds without streaming if requested, and respects num_predict', async () => {
    const answer = await (await chat({ stream: false, options: { num_predict: 2 } })).json();
    expect(answer).toMatchObject({
      message: { role: 'assistant', content: 'one two' },
      done: true,
      done_reason: 'length',
      eval_count: 2,
    });
  });

  it('gives tool arguments as an object', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
    const messages = [{ role: 'user', content: 'call look {"at":"me"}', images: ['AAAA'] }];
    const lines = await linesOf(await chat({ tools, messages }));
    expect(lines[0]).toMatchObject({
      message: {
        content: '',
        tool_calls: [{ function: { name: 'look', arguments: { at: 'me' } } }],
      },
    });
    expect(lines.at(-1)).toMatchObject({ done: true, prompt_eval_count: 3 + 85 });
  });

  it('leaves out counts of zero', async () => {
    server.faults.next({ kind: 'no-tokens' });
    const answer = await (
      await chat({ stream: false, messages: [{ role: 'user', content: '' }] })
    ).json();
    expect(answer).not.toHaveProperty('eval_count');
    expect(answer).not.toHaveProperty('prompt_eval_count');
  });

  it('embeds one text or several', async () => {
    const several = asObject(await (await post('/api/embed', { input: ['a', 'b c'] })).json());
    expect(several.prompt_eval_count).toBe(3);
    const one = asObject(await (await post('/api/embed', { input: 'a' })).json());
    expect(asList(one.embeddings)[0]).toEqual(asList(several.embeddings)[0]);
  });

  it('lists its tags', async () => {
    const { models } = asObject(await (await fetch(`${server.url}/api/tags`)).json());
    const tag = asObject(asList(models)[0]);
    expect(tag).toMatchObject({ name: 'demo-local:latest', model: 'demo-local:latest' });
    expect(tag).toMatchObject({ size: 522_653_767, details: { format: 'gguf' } });
    expect(tag.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    {
      why: 'an unknown model',
      body: { model: 'other' },
      status: 404,
      error: "model 'other' not found",
    },
    {
      why: 'no messages',
      body: { messages: [] },
      status: 400,
      error: "Missing required parameter: 'messages'.",
    },
  ])('refuses $why', async ({ body, status, error }) => {
    const response = await chat(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error });
  });
});

describe('faults of the Ollama-style server', () => {
  it('reports a failure in mid-stream as an error line', async () => {
    server.faults.next({ kind: 'error-chunk', afterChunks: 2, message: 'llama runner stopped' });
    const lines = await linesOf(await chat());
    expect(lines.at(-1)).toEqual({ error: 'llama runner stopped' });
    expect(server.served[0]).toMatchObject({ completionTokens: 2, completed: false });
  });

  it('answers a status in its own error shape', async () => {
    server.faults.next({ kind: 'status', status: 503 });
    const response = await chat();
    expect([response.status, await response.json()]).toEqual([
      503,
      { error: 'planned failure 503' },
    ]);
  });

  it('cuts streams and whole answers', async () => {
    server.faults.next({ kind: 'cut', afterChunks: 1 }, 2);
    await expect(chat().then((response) => response.text())).rejects.toThrow('terminated');
    await expect(chat({ stream: false }).then((response) => response.text())).rejects.toThrow(
      'terminated',
    );
    expect(server.served.map((entry) => entry.completionTokens)).toEqual([1, 0]);
  });

  it('sends a garbage line, leaves out the last line, or the counts', async () => {
    server.faults.next({ kind: 'garbage-line' });
    expect(await (await chat()).text()).toContain('half a li\n');
    server.faults.next({ kind: 'no-done' });
    expect((await linesOf(await chat())).at(-1)?.done).toBe(false);
    server.faults.next({ kind: 'no-usage' });
    expect((await linesOf(await chat())).at(-1)).not.toHaveProperty('eval_count');
  });
});
