import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { OpenAI as LlamaOpenAI } from '@llamaindex/openai';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { Agent, Runner } from '@openai/agents-core';
import { OpenAIProvider } from '@openai/agents-openai';
import { streamText, type LanguageModel } from 'ai';
import OpenAI from 'openai';
import { startBothSurfaces, type BothSurfaces } from './both-surfaces.ts';

// What the libraries tell their programs of an answer that breaks off in the middle.

const MODEL = 'demo-chat';
const REASON = 'the upstream ran out of memory';
const QUESTION = 'Hello!';
const messages = [{ role: 'user' as const, content: QUESTION }];

let surfaces: BothSurfaces;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  surfaces = await startBothSurfaces();
  upstream = await startChatUpstream({ models: [MODEL] });
});
// A registration begins with closed circuits.
beforeEach(async () => {
  const { registry } = surfaces.runtime.router;
  const config = { apiKey: null, models: [], capabilities: null };
  await registry.register({ name: 'demo', type: 'external', url: upstream.url, ...config });
  upstream.faults.next({ kind: 'error-chunk', afterChunks: 3, message: REASON });
});
afterEach(() => upstream.faults.clear());
afterAll(async () => {
  await surfaces.test.close();
  await upstream.close();
});

const baseURL = () => `${surfaces.restUrl}/v1`;
const apiKey = () => surfaces.ann.key;

/** What each library is asked for; most throw while they are read. */
const READERS: Readonly<
  Record<string, () => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>>
> = {
  openai: () =>
    new OpenAI({ baseURL: baseURL(), apiKey: apiKey(), maxRetries: 0 }).chat.completions.create({
      model: MODEL,
      messages,
      stream: true,
    }),
  '@anthropic-ai/sdk': () =>
    new Anthropic({ baseURL: surfaces.restUrl, apiKey: apiKey(), maxRetries: 0 }).messages.create({
      model: MODEL,
      max_tokens: 100,
      messages,
      stream: true,
    }),
  '@langchain/openai': () =>
    new ChatOpenAI({
      model: MODEL,
      apiKey: apiKey(),
      configuration: { baseURL: baseURL() },
    }).stream(QUESTION),
  '@langchain/anthropic': () =>
    new ChatAnthropic({
      model: MODEL,
      apiKey: apiKey(),
      anthropicApiUrl: surfaces.restUrl,
      maxRetries: 0,
    }).stream(QUESTION),
  '@llamaindex/openai': () =>
    new LlamaOpenAI({
      model: MODEL,
      apiKey: apiKey(),
      baseURL: baseURL(),
      maxRetries: 0,
    }).chat({ messages, stream: true }),
  '@openai/agents, chat': () => runAgent(false),
  '@openai/agents, responses': () => runAgent(true),
  '@ai-sdk/openai-compatible': () =>
    read(createOpenAICompatible({ name: 'g', baseURL: baseURL(), apiKey: apiKey() })(MODEL)),
  '@ai-sdk/openai, chat': () =>
    read(createOpenAI({ baseURL: baseURL(), apiKey: apiKey() }).chat(MODEL)),
  '@ai-sdk/openai, responses': () =>
    read(createOpenAI({ baseURL: baseURL(), apiKey: apiKey() })(MODEL)),
  '@ai-sdk/anthropic': () => read(createAnthropic({ baseURL: baseURL(), apiKey: apiKey() })(MODEL)),
};

const runAgent = (useResponses: boolean): Promise<AsyncIterable<unknown>> =>
  new Runner({
    modelProvider: new OpenAIProvider({ apiKey: apiKey(), baseURL: baseURL(), useResponses }),
    tracingDisabled: true,
  }).run(new Agent({ name: 'cut off', model: MODEL }), QUESTION, { stream: true });

/** The AI SDK tells a failure as a part of the stream. */
async function* read(model: LanguageModel): AsyncGenerator {
  const { fullStream } = streamText({
    model,
    prompt: QUESTION,
    maxRetries: 0,
    onError: () => undefined,
  });
  for await (const part of fullStream) {
    if (part.type === 'error') throw part.error;
    yield part;
  }
}

test.each(Object.entries(READERS))('%s tells why an answer broke off', async (_name, ask) => {
  const reading = (async () => {
    for await (const _part of await ask());
  })();
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeDefined();
  const told = error instanceof Error ? `${error.message} ${String(error.cause)}` : '';
  expect(`${told} ${JSON.stringify(error)}`).toContain(REASON);
});
