import { openNumbersScene, type NumbersScene } from './numbers-scene.ts';

// What passes as it came, is stored or is answered again keeps its numbers as they were written.

const LONG = '1234567890123456789012345678901234567890';
const NUMBERS = `[${LONG},0.${LONG},-${LONG},1.0,0.10,1e3,-0,1.5e-07,1E+2]`;

let scene: NumbersScene;
beforeAll(async () => {
  scene = await openNumbersScene();
});
afterAll(() => scene.close());

const item = (more: string): string =>
  `{"type":"function_call","id":"fc_1","call_id":"c1","name":"look","arguments":"{\\"id\\":${LONG}}","status":"completed","more":${more}}`;
const response = (output: string): string =>
  `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[${output}],"more":${NUMBERS},"usage":{"input_tokens":2,"output_tokens":3,"total_tokens":5}}`;
const events = (...all: readonly (readonly [string, string])[]): string =>
  all.map(([type, fields]) => `event: ${type}\ndata: {"type":"${type}",${fields}}\n\n`).join('');

describe('Responses to an upstream of the same API', () => {
  const asked = (stream: boolean, more = ''): string =>
    `{"model":"m","stream":${stream},"temperature":0.50,"seed":9223372036854775807,"unknown":${NUMBERS},` +
    `"tools":[{"type":"function","name":"look","parameters":{"type":"object","enum":${NUMBERS}}}],` +
    `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi","more":${NUMBERS}}]}]${more}}`;

  test.each([false, true])('streamed: %p', async (stream) => {
    scene.answer(
      stream
        ? events(
            ['response.created', `"sequence_number":0,"response":${response('')}`],
            [
              'response.output_item.done',
              `"sequence_number":1,"output_index":0,"item":${item(NUMBERS)}`,
            ],
            ['response.completed', `"sequence_number":2,"response":${response(item(NUMBERS))}`],
          )
        : response(item(NUMBERS)),
    );
    const answered = await scene.ask('/v1/responses', asked(stream));
    const sent = scene.upstream.lastText();
    for (const part of [
      '"temperature":0.50',
      '"seed":9223372036854775807',
      `"unknown":${NUMBERS}`,
      `"enum":${NUMBERS}`,
      `"text":"Hi","more":${NUMBERS}`,
    ])
      expect(sent).toContain(part);
    expect(answered.split(`"more":${NUMBERS}`).length).toBeGreaterThan(stream ? 4 : 2);
    expect(answered).toContain(LONG);

    // Stored, read and continued.
    const id = /"id":"(resp_[^"]+)"/.exec(answered)?.[1] ?? '';
    const stored = await scene.ask(`/v1/responses/${id}`, undefined);
    expect(stored.split(`"more":${NUMBERS}`)).toHaveLength(3);
    const items = await scene.ask(`/v1/responses/${id}/input_items`, undefined);
    expect(items).toContain(`"text":"Hi","more":${NUMBERS}`);
    scene.answer(response(''));
    await scene.ask('/v1/responses', asked(false, `,"previous_response_id":"${id}"`));
    const continued = scene.upstream.lastText();
    expect(continued.split(`"text":"Hi","more":${NUMBERS}`)).toHaveLength(3);
    expect(continued).toContain(`"status":"completed","more":${NUMBERS}`);
  });
});

test('token ids and fields of embeddings, and the vectors of the answer', async () => {
  const vectors = [`[0.10,-1.5e-05,1.0,-0.0,0.30000000000000001]`, `[1,0.5,1e3,-0,${LONG}]`];
  const entry = (index: number): string =>
    `{"object":"embedding","index":${index},"embedding":${vectors[index]?.replaceAll(',', ' ,\n ')}}`;
  scene.answer(
    `{"object":"list","data":[${entry(1)}, ${entry(0)}],"model":"m","usage":{"prompt_tokens":3.0,"total_tokens":3}}`,
  );
  const body = `{"model":"m","input":[[1.0,2],[3e0]],"dimensions":5.0,"unknown":${NUMBERS}}`;
  const answered = await scene.ask('/v1/embeddings', body);
  for (const part of ['"input":[[1.0,2],[3e0]]', '"dimensions":5.0', `"unknown":${NUMBERS}`])
    expect(scene.upstream.lastText()).toContain(part);
  expect(answered).toBe(
    `{"object":"list","data":[` +
      `{"object":"embedding","index":0,"embedding":${vectors[0]}},` +
      `{"object":"embedding","index":1,"embedding":${vectors[1]}}],` +
      `"model":"m","usage":{"prompt_tokens":3,"completion_tokens":0,"total_tokens":3}}`,
  );
  const packed = await scene.ask(
    '/v1/embeddings',
    body.replace('{', '{"encoding_format":"base64",'),
  );
  const numbers = [0.1, -1.5e-5, 1, -0, 0.3];
  const bytes = Buffer.from(new Float32Array(numbers).buffer).toString('base64');
  expect(packed).toContain(`"embedding":"${bytes}"`);
});

test.each([
  {
    path: '/v1/completions',
    body: `{"model":"m","prompt":[1.0,2],"max_tokens":5.0,"temperature":0.50,"unknown":${NUMBERS}}`,
    answer: `{"id":"x","object":"text_completion","created":1.0,"model":"m","choices":[{"index":0,"text":"Hi","finish_reason":"stop","logprobs":${NUMBERS}}],"usage":{"prompt_tokens":2.0,"completion_tokens":3,"total_tokens":5}}`,
  },
  {
    path: '/v1/rerank',
    body: `{"model":"m","query":"a","documents":["b",{"text":"c","of":${NUMBERS}}],"top_n":1.0}`,
    answer: `{"results":[{"index":0,"relevance_score":0.90}],"more":${NUMBERS}}`,
  },
  {
    path: '/v1/chat/completions',
    body: `{"model":"m","messages":[{"role":"user","content":"Hi"}],"max_tokens":5.0,"n":1.0,"top_logprobs":2.0,"logit_bias":{"50256":-100.0}}`,
    answer: `{"id":"x","object":"chat.completion","created":1.0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"logprobs":{"content":[{"token":"Hi","logprob":-1.5e-05,"top_logprobs":[]}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5,"cost":1.10E-5}}`,
  },
])('a request of $path and its answer', async ({ path, body, answer }) => {
  scene.answer(answer);
  expect(await scene.ask(path, body)).toBe(answer);
  const sent = JSON.stringify(scene.upstream.lastText());
  const members = body.slice(1, -1).split(/,(?=")/);
  for (const member of members) expect(sent).toContain(JSON.stringify(member).slice(1, -1));
});

test('duplicate names count once, as they did', async () => {
  scene.answer(response(''));
  const messages = '"messages":[{"role":"user","content":"Hi"}]';
  scene.answer(
    '{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5}}',
  );
  await scene.ask(
    '/v1/chat/completions',
    `{"model":"m",${messages},"a":1.0,"a":2.0,"b":3.0,"b":4}`,
  );
  expect(scene.upstream.lastText()).toContain('"a":2.0,"b":4');
});

test('1e400 is refused in a request and passes in an answer', async () => {
  const answer =
    '{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop","score":1e400}],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5}}';
  scene.answer(answer);
  const body = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}';
  expect(await scene.ask('/v1/chat/completions', body)).toBe(answer);
  await expect(
    scene.ask('/v1/chat/completions', body.replace('{', '{"x":{"y":[1e400]},')),
  ).rejects.toThrow('400: ');
});
