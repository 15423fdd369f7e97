import { readFileSync } from 'node:fs';
import { readMediaTokens } from '@model-gateway/contracts';
import { chatTurn } from '@model-gateway/dialects';
import { systemClock } from '@model-gateway/kernel';
import type { Backend } from '@model-gateway/router';
import { startRecordedServer, type RecordedServer } from '@model-gateway/testkit/upstreams';
import * as fc from 'fast-check';
import { createBackend } from '../factory/create-backend.ts';
import { partsOfAnswer } from './gemini-answer.ts';
import { completionIn, eventsOf, startParts } from '../../tests/read-chunks.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
const timeouts = { connectMs: 5_000, idleMs: 30_000, totalMs: 30_000 };
const signal = new AbortController().signal;
const secret = 'the key';

let server: RecordedServer;
let backend: Backend;
beforeAll(async () => {
  server = await startRecordedServer();
  const config = { name: 'g', type: 'gemini', url: server.url, apiKey: 'the key' };
  backend = createBackend(
    { ...config, models: [], capabilities: null },
    { timeouts, clock: systemClock },
  );
  server.answer(':generateContent', { body: fixture('answer.json') });
  const stream = { type: 'text/event-stream', body: fixture('stream.txt') };
  server.answer(':streamGenerateContent', stream);
});
afterAll(async () => {
  await backend.close();
  await server.close();
});

const sentBody = (): unknown => server.requests.at(-1)?.body;
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const user = { role: 'user', content: 'Hi' };
const model = 'gemini-2.5-pro';

test('a chat body becomes a request of the API, with its header', async () => {
  await backend.chat?.(
    chatTurn({
      model,
      temperature: 0.5,
      top_p: 0.9,
      max_completion_tokens: 99,
      stop: ['END'],
      seed: 7,
      reasoning_effort: 'low',
      tools: [
        { type: 'function', function: { name: 'look', description: 'Looks.', parameters: schema } },
      ],
      tool_choice: { type: 'function', function: { name: 'look' } },
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'input_audio', input_audio: { data: 'BBBB', format: 'wav' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 't1',
              type: 'function',
              extra_content: { google: { thought_signature: 'S' } },
              function: { name: 'look', arguments: '{"a":"x"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 't1', content: 'a cat' },
        { role: 'user', content: 'And now?' },
      ],
    }),
    signal,
  );
  expect(server.requests.at(-1)).toMatchObject({
    method: 'POST',
    url: `/v1beta/models/${model}:generateContent`,
    headers: { 'x-goog-api-key': 'the key' },
  });
  expect(sentBody()).toEqual({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'See' },
          { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          { inlineData: { mimeType: 'audio/wav', data: 'BBBB' } },
        ],
      },
      {
        role: 'model',
        parts: [
          { functionCall: { id: 't1', name: 'look', args: { a: 'x' } }, thoughtSignature: 'S' },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 't1', name: 'look', response: { result: 'a cat' } } },
          { text: 'And now?' },
        ],
      },
    ],
    tools: [
      {
        functionDeclarations: [
          { name: 'look', description: 'Looks.', parametersJsonSchema: schema },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
    generationConfig: {
      temperature: 0.5,
      topP: 0.9,
      maxOutputTokens: 99,
      stopSequences: ['END'],
      seed: 7,
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
    },
  });
});

test('only the first call of a reply needs a signature', async () => {
  const call = (callId: string, signature?: string) => ({
    id: callId,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
    ...(signature === undefined ? {} : { signature }),
  });
  const reply = (...calls: readonly object[]) => ({ role: 'assistant', tool_calls: calls });
  const result = (callId: string) => ({ role: 'tool', tool_call_id: callId, content: 'x' });
  await backend.chat?.(
    chatTurn({
      model: 'gemini-3-pro',
      messages: [
        user,
        reply(call('a', 'S'), call('b')),
        result('a'),
        result('b'),
        reply(call('c'), call('d')),
        result('c'),
        result('d'),
      ],
    }),
    signal,
  );
  const { contents } = sentBody() as { contents: { parts: Record<string, unknown>[] }[] };
  const signatures = contents.flatMap(({ parts }) =>
    parts.flatMap(({ functionCall, thoughtSignature }) =>
      functionCall === undefined ? [] : [thoughtSignature],
    ),
  );
  expect(signatures).toEqual(['S', undefined, 'skip_thought_signature_validator', undefined]);
});

test('several answers are refused by name', async () => {
  const call = backend.chat?.(chatTurn({ model, messages: [user], n: 2 }), signal);
  await expect(call).rejects.toThrow('n:');
});

const usage = {
  prompt_tokens: 60,
  completion_tokens: 50,
  total_tokens: 110,
  prompt_tokens_details: { cached_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 30 },
};

test('an answer becomes a completion', async () => {
  const answer = await backend.chat?.(chatTurn({ model, messages: [user] }), signal);
  expect(completionIn(answer)).toMatchObject({
    id: 'chatcmpl-r1',
    choices: [
      {
        message: {
          content: "I'll check.",
          reasoning_content: 'The user wants the weather.',
          tool_calls: [
            {
              id: expect.stringMatching(/^call_/) as string,
              extra_content: { google: { thought_signature: 'CpcHAdHtim9' } },
              function: { name: 'get_weather', arguments: '{"location":"Rome"}' },
            },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  });
});

test.each([
  { reason: 'MAX_TOKENS', finish: 'length' },
  { reason: 'SAFETY', finish: 'content_filter' },
  { reason: 'OTHER', finish: 'stop' },
])('$reason is $finish', async ({ reason, finish }) => {
  const content = { parts: [{ text: 'x' }] };
  const body = JSON.stringify({ candidates: [{ content, finishReason: reason }] });
  server.answer(':generateContent', { body });
  const answer = await backend.chat?.(chatTurn({ model, messages: [user] }), signal);
  expect(completionIn(answer).choices[0]?.finish_reason).toBe(finish);
});

test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER'])(
  'an empty answer that ended with %s is an error, whole and streamed',
  async (reason) => {
    const ended = { candidates: [{ content: {}, finishReason: reason }] };
    const error = { message: expect.stringContaining(reason) as unknown, isBackendAtFault: false };
    server.answer(':generateContent', { body: JSON.stringify(ended) });
    await expect(
      backend.chat?.(chatTurn({ model, messages: [user] }), signal),
    ).rejects.toMatchObject(error);
    const said = { candidates: [{ content: { parts: [{ text: 'I call' }] } }] };
    const events = reason === 'OTHER' ? [ended] : [said, ended];
    await expect(eventsOf(partsOfAnswer(eventBytes(events), secret))).rejects.toMatchObject(error);
  },
);

test('generated images are images of the message, and go back as they came', async () => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const parts = [{ text: 'A cat:' }, { ...picture, thought: true }, picture];
  const answer = { candidates: [{ content: { parts }, finishReason: 'STOP' }] };
  server.answer(':generateContent', { body: JSON.stringify(answer) });
  const modalities = ['text', 'image'];
  const whole = await backend.chat?.(chatTurn({ model, modalities, messages: [user] }), signal);
  expect(sentBody()).toMatchObject({
    generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
  });
  const { message } = completionIn(whole).choices[0] ?? {};
  const images = [
    { index: 0, type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ];
  expect(message).toEqual({ role: 'assistant', content: 'A cat:', images, refusal: null });
  const source = { type: 'data', mediaType: 'image/png', data: 'AAAA' };
  expect(await eventsOf(partsOfAnswer(eventBytes([answer]), secret))).toEqual([
    { type: 'text', text: 'A cat:' },
    { type: 'image', source },
    { type: 'finish', reason: 'stop' },
  ]);
  const counted = { ...answer, usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290 } };
  const known: unknown[] = [];
  for await (const { events, usageSoFar } of partsOfAnswer(eventBytes([counted]), secret))
    if (events[0]?.type === 'image') known.push(usageSoFar);
  expect(known).toEqual([{ promptTokens: 5, completionTokens: 1290 }]);
  await backend.chat?.(chatTurn({ model, messages: [user, { ...message }, user] }), signal);
  expect(sentBody()).toMatchObject({
    contents: [{ role: 'user' }, { role: 'model', parts: [{ text: 'A cat:' }, picture] }, {}],
  });
});

const eventBytes = (answers: readonly object[]) =>
  streamOf(answers.map((answer) => Buffer.from(`data: ${JSON.stringify(answer)}\n\n`)));

test('tokens are listed by what they are', async () => {
  const counts = [
    { modality: 'TEXT', tokenCount: 3 },
    { modality: 'AUDIO', tokenCount: 40 },
  ];
  const usageMetadata = {
    promptTokenCount: 43,
    promptTokensDetails: counts,
    cachedContentTokenCount: 5,
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 5 }],
    candidatesTokenCount: 1300,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
  };
  const candidates = [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }];
  server.answer(':generateContent', { body: JSON.stringify({ candidates, usageMetadata }) });
  const answer = await backend.chat?.(chatTurn({ model, messages: [user] }), signal);
  expect(readMediaTokens(completionIn(answer).usage)).toEqual({
    audio_input: 40,
    cached_audio_input: 5,
    audio_output: 0,
    image_output: 1290,
  });
});

test('a prompt that is blocked is a filtered answer', async () => {
  server.answer(':generateContent', { body: '{"promptFeedback":{"blockReason":"SAFETY"}}' });
  const answer = await backend.chat?.(chatTurn({ model, messages: [user] }), signal);
  expect(completionIn(answer).choices[0]?.finish_reason).toBe('content_filter');
});

const id = expect.stringMatching(/^call_/) as string;
const EVENTS = [
  { type: 'reasoning', text: 'The user wants the weather.' },
  { type: 'text', text: 'I’ll ' },
  { type: 'text', text: 'check.' },
  { type: 'tool_call', index: 0, id, name: 'get_weather', signature: 'CpcHAdHtim9' },
  { type: 'tool_arguments', index: 0, text: '{"location":"Rome"}' },
  { type: 'tool_call', index: 1, id, name: 'get_time' },
  { type: 'tool_arguments', index: 1, text: '{}' },
  { type: 'finish', reason: 'tool_calls' },
  {
    type: 'usage',
    usage: { promptTokens: 60, completionTokens: 50, cachedTokens: 10, reasoningTokens: 30 },
  },
];

async function* streamOf(parts: readonly Buffer[]) {
  yield* parts;
}

test('any cut of a stream gives the same events', async () => {
  const bytes = Buffer.from(fixture('stream.txt'));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const parts = at.slice(1).map((end, position) => bytes.subarray(at[position], end));
      expect(await eventsOf(partsOfAnswer(streamOf(parts), secret))).toEqual(EVENTS);
    }),
    { numRuns: 30 },
  );
});

test('a stream over the wire', async () => {
  const turn = chatTurn({ model, messages: [user] });
  expect(await eventsOf(await startParts(backend, turn, signal))).toEqual(EVENTS);
  expect(server.requests.at(-1)?.url).toBe(`/v1beta/models/${model}:streamGenerateContent?alt=sse`);
});

test('a stream without a reason to end was cut off', async () => {
  const whole = fixture('stream.txt');
  const cut = Buffer.from(whole.slice(0, whole.lastIndexOf('data:')));
  await expect(eventsOf(partsOfAnswer(streamOf([cut]), secret))).rejects.toThrow('before');
});

test('an error in a stream has the status that it names', async () => {
  const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' };
  const data = Buffer.from(`data: ${JSON.stringify({ error })}\r\n\r\n`);
  await expect(eventsOf(partsOfAnswer(streamOf([data]), secret))).rejects.toMatchObject({
    status: 503,
    message: 'upstream 503: The model is overloaded.',
  });
});

test('texts are embedded in one call', async () => {
  server.answer(':batchEmbedContents', {
    body: '{"embeddings":[{"values":[1,2]},{"values":[3]}]}',
  });
  const embed = backend.embed?.({ model: 'e', input: ['a', 'b'], dimensions: 2 }, signal);
  await expect(embed).resolves.toEqual({
    model: 'e',
    vectors: [[1, 2], [3]],
    vectorTexts: ['[1,2]', '[3]'],
    promptTokens: undefined,
  });
  expect(sentBody()).toEqual({
    requests: ['a', 'b'].map((text) => ({
      model: 'models/e',
      content: { parts: [{ text }] },
      outputDimensionality: 2,
    })),
  });
});

test('it is probed by its listing', async () => {
  const models = [
    {
      name: 'models/gemini-2.5-pro',
      supportedGenerationMethods: ['generateContent'],
      inputTokenLimit: 9,
    },
    { name: 'models/aqa', supportedGenerationMethods: ['generateAnswer'] },
  ];
  server.answer('/v1beta/models?', { body: JSON.stringify({ models }) });
  await expect(backend.probe(signal)).resolves.toEqual({
    state: 'Healthy',
    models: ['gemini-2.5-pro'],
    contextLengths: new Map([['gemini-2.5-pro', 9]]),
  });
  server.answer('/v1beta/models?', { status: 403, body: '{}' });
  await expect(backend.probe(signal)).resolves.toMatchObject({ state: 'Degraded' });
});
