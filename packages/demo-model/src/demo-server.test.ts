import OpenAI from 'openai';
import { DEMO_MODELS } from './demo-api.ts';
import { startDemoModel, type RunningDemo } from './demo-server.ts';

const ask = (content: OpenAI.ChatCompletionUserMessageParam['content']) => ({
  model: 'demo-chat',
  messages: [{ role: 'user' as const, content }],
});
const weather: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'kelvin'] } },
      required: ['city', 'unit'],
    },
  },
};

describe('the demo model, seen by the official client', () => {
  let demo: RunningDemo;
  let client: OpenAI;
  beforeAll(async () => {
    demo = await startDemoModel({ apiKey: 'secret', tokenDelayMs: 1 });
    client = new OpenAI({ apiKey: 'secret', baseURL: `${demo.url}/v1`, maxRetries: 0 });
  });
  afterAll(() => demo.close());

  it('answers a chat, quotes the question and says who it is', async () => {
    const answer = await client.chat.completions.create(ask('How are you today?'));
    expect(answer.object).toBe('chat.completion');
    expect(answer.model).toBe('demo-chat');
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.choices[0]?.message.content).toContain('built-in demo model');
    expect(answer.choices[0]?.message.content).toContain('"How are you today?"');
    const words = answer.choices[0]?.message.content?.split(/\s+/).length;
    expect(answer.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: words });
  });

  it('streams the same answer word by word, with the role first and usage only when asked', async () => {
    const whole = await client.chat.completions.create(ask('Stream this'));
    const chunks = [];
    for await (const chunk of await client.chat.completions.create({
      ...ask('Stream this'),
      stream: true,
      stream_options: { include_usage: true },
    })) {
      chunks.push(chunk);
    }
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant', content: '' });
    expect(chunks[0]?.usage).toBeNull();
    expect(chunks.at(-1)?.choices).toEqual([]);
    expect(chunks.at(-1)?.usage).toEqual(whole.usage);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);

    const without = [];
    for await (const chunk of await client.chat.completions.create({
      ...ask('Stream this'),
      stream: true,
    })) {
      without.push(chunk);
    }
    expect(without.some((chunk) => 'usage' in chunk || chunk.choices.length === 0)).toBe(false);
  });

  it('stops at the token limit and says so', async () => {
    const limited = await client.chat.completions.create({
      ...ask('Hi'),
      max_completion_tokens: 3,
    });
    expect(limited.choices[0]?.finish_reason).toBe('length');
    expect(limited.usage?.completion_tokens).toBe(3);
  });

  it('calls a tool when asked, with arguments from the text or from the schema', async () => {
    const given = await client.chat.completions.create({
      ...ask('please call get_weather {"city":"Paris"}'),
      tools: [weather],
    });
    expect(given.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ function: { name: 'get_weather', arguments: '{"city":"Paris"}' } }],
      },
    });
    const stream = client.chat.completions.stream({
      ...ask('Call get_weather.'),
      tools: [weather],
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      type: 'function',
      function: { arguments: '{"city":"example","unit":"celsius"}' },
    });
  });

  it.each([
    { why: 'forced by name', choice: { type: 'function', function: { name: 'get_weather' } } },
    { why: 'required', choice: 'required' },
  ] as const)('calls a tool that is $why', async ({ choice }) => {
    const answer = await client.chat.completions.create({
      ...ask('Hi'),
      tools: [weather],
      tool_choice: choice,
    });
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('answers in words after a tool result, or when tools are forbidden', async () => {
    const after = await client.chat.completions.create({
      model: 'demo-chat',
      tools: [weather],
      messages: [
        { role: 'user', content: 'call get_weather' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
      ],
    });
    expect(after.choices[0]?.message.content).toContain('"sunny"');
    const forbidden = await client.chat.completions.create({
      ...ask('call get_weather'),
      tools: [weather],
      tool_choice: 'none',
    });
    expect(forbidden.choices[0]?.finish_reason).toBe('stop');
  });

  it('reads content parts and counts images', async () => {
    const answer = await client.chat.completions.create(
      ask([
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ]),
    );
    expect(answer.choices[0]?.message.content).toContain('You also sent an image (image/png,');
    expect(answer.usage?.prompt_tokens).toBe(3 + 85);
  });

  it('reasons before it answers, streamed and whole, and counts it', async () => {
    const body = { ...ask('Hi'), reasoning_effort: 'low' as const };
    const whole = await client.chat.completions.create(body);
    const message = whole.choices[0]?.message as { reasoning_content?: string };
    const reasoning = message.reasoning_content ?? '';
    expect(reasoning).toContain('The user wrote: "Hi".');
    expect(whole.usage?.completion_tokens_details?.reasoning_tokens).toBe(
      reasoning.split(' ').length,
    );
    expect(whole.usage?.completion_tokens).toBeGreaterThan(reasoning.split(' ').length);
    const kinds: string[] = [];
    let thoughts = '';
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) {
      const delta = chunk.choices[0]?.delta as { content?: string; reasoning_content?: string };
      thoughts += delta.reasoning_content ?? '';
      kinds.push(...Object.keys(delta));
    }
    expect(thoughts).toBe(reasoning);
    expect(kinds.lastIndexOf('reasoning_content')).toBeLessThan(kinds.lastIndexOf('content'));
    expect(kinds.indexOf('content', 3)).toBeGreaterThan(kinds.lastIndexOf('reasoning_content'));
  });

  it('streams JSON that satisfies a schema in several pieces', async () => {
    const schema = { type: 'object', properties: { ok: { const: true } }, required: ['ok'] };
    const pieces: string[] = [];
    for await (const chunk of await client.chat.completions.create({
      ...ask('Hi'),
      response_format: { type: 'json_schema', json_schema: { name: 'result', schema } },
      stream: true,
    })) {
      pieces.push(chunk.choices[0]?.delta.content ?? '');
    }
    expect(JSON.parse(pieces.join(''))).toEqual({ ok: true });
    expect(pieces.filter((piece) => piece !== '').length).toBeGreaterThan(1);
  });

  it('gives as many choices as asked, and counts their tokens', async () => {
    const one = await client.chat.completions.create(ask('Hi'));
    const three = await client.chat.completions.create({ ...ask('Hi'), n: 3 });
    expect(three.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(three.usage?.completion_tokens).toBe(3 * (one.usage?.completion_tokens ?? 0));
    const indexes = new Set<number>();
    for await (const chunk of await client.chat.completions.create({
      ...ask('Hi'),
      n: 2,
      stream: true,
    })) {
      indexes.add(chunk.choices[0]?.index ?? -1);
    }
    expect([...indexes]).toEqual([0, 1]);
  });

  it('embeds texts to the same unit vectors, as base64 and as numbers', async () => {
    const request = { model: 'demo-embed', input: ['one', 'two words'] };
    const encoded = await client.embeddings.create(request);
    const plain = await client.embeddings.create({ ...request, encoding_format: 'float' });
    expect(encoded.data.map((item) => item.embedding)).toEqual(
      plain.data.map((item) => item.embedding),
    );
    const first = plain.data[0]?.embedding ?? [];
    expect(first).toHaveLength(256);
    expect(Math.hypot(...first)).toBeCloseTo(1, 5);
    expect(plain.data[1]?.embedding).not.toEqual(first);
    expect(plain.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
  });

  it('embeds token lists and honours dimensions', async () => {
    const answer = await client.embeddings.create({
      model: 'demo-embed',
      input: [[1, 2, 3], [4]],
      dimensions: 10,
    });
    expect(answer.data.map((item) => item.embedding.length)).toEqual([10, 10]);
    expect(answer.usage.prompt_tokens).toBe(4);
  });

  it('lists its models and shows one', async () => {
    const { data } = await client.models.list();
    expect(data.map((model) => model.id)).toEqual(DEMO_MODELS);
    expect(await client.models.retrieve('demo-embed')).toMatchObject({ object: 'model' });
    await expect(client.models.retrieve('other')).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    { why: 'an unknown model', body: { model: 'other', messages: [{}] }, status: 404 },
    { why: 'too many choices', body: { model: 'demo-chat', messages: [{}], n: 99 }, status: 400 },
    { why: 'no messages', body: { model: 'demo-chat' }, status: 400 },
    { why: 'a wrong key', body: {}, status: 401, key: 'wrong' },
    { why: 'an unknown path', body: {}, status: 404, path: '/v1/other' },
    { why: 'a body that is not JSON', text: '{', status: 404 },
    {
      why: 'a form without a boundary',
      status: 400,
      path: '/v1/audio/transcriptions',
      type: 'multipart/form-data',
    },
  ])('refuses $why', async (request) => {
    const { body, text, status, key = 'secret', path = '/v1/chat/completions' } = request;
    const response = await fetch(`${demo.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': request.type ?? 'application/json',
      },
      body: text ?? JSON.stringify(body ?? {}),
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('measures an uploaded file', async () => {
    const file = new File(['x'.repeat(100_000)], 'a.wav');
    const { text } = await client.audio.transcriptions.create({ model: 'demo-transcribe', file });
    expect(text).toContain('a file with 100000 bytes');
  });

  it('serves others when a client disconnects in the middle of a stream', async () => {
    const left = new AbortController();
    const response = await fetch(`${demo.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret' },
      body: JSON.stringify({ ...ask('Hi'), stream: true }),
      signal: left.signal,
    });
    await response.body?.getReader().read();
    left.abort();
    expect((await client.models.list()).data).not.toEqual([]);
  });
});
