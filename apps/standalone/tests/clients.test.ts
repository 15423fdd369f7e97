import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { FunctionTool } from '@llamaindex/core/tools';
import { OpenAI, OpenAIResponses } from '@llamaindex/openai';
import {
  startChatUpstream,
  startOllamaServer,
  type RunningChatUpstream,
  type RunningOllamaServer,
} from '@model-gateway/testkit/upstreams';
import { generateText, Output, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import { z } from 'zod';
import { startBothSurfaces, type BothSurfaces } from './both-surfaces.ts';

/** A server of chat completions, which is relayed, and one of another API, which is translated. */
const MODELS = ['demo-chat', 'llama3.2:latest'] as const;
const QUESTION = 'What is the weather in Paris?';
const place = z.object({ city: z.string() });
const weather = {
  name: 'get_weather',
  description: 'Tells the weather of a city.',
};

let surfaces: BothSurfaces;
let demo: RunningChatUpstream;
let ollama: RunningOllamaServer;

beforeAll(async () => {
  surfaces = await startBothSurfaces();
  demo = await startChatUpstream({ models: [MODELS[0]] });
  ollama = await startOllamaServer({ models: [MODELS[1]] });
  const { registry } = surfaces.runtime.router;
  const config = { apiKey: null, models: [], capabilities: null };
  await registry.register({ name: 'demo', type: 'external', url: demo.url, ...config });
  await registry.register({ name: 'ollama', type: 'local-server', url: ollama.url, ...config });
});
afterAll(async () => {
  await surfaces.test.close();
  await demo.close();
  await ollama.close();
});

const openAiUrl = () => `${surfaces.restUrl}/v1`;
const apiKey = () => surfaces.ann.key;

describe.each([
  {
    name: '@ai-sdk/openai',
    modelOf: (model: string): LanguageModel =>
      createOpenAI({ baseURL: openAiUrl(), apiKey: apiKey() })(model),
  },
  {
    name: '@ai-sdk/anthropic',
    modelOf: (model: string): LanguageModel =>
      createAnthropic({ baseURL: openAiUrl(), apiKey: apiKey() })(model),
  },
  {
    name: '@ai-sdk/openai-compatible',
    modelOf: (model: string): LanguageModel =>
      createOpenAICompatible({
        name: 'gateway',
        baseURL: openAiUrl(),
        apiKey: apiKey(),
        supportsStructuredOutputs: true,
      })(model),
  },
])('$name', ({ modelOf }) => {
  test.each(MODELS)('text, a stream, a tool and an object of %s', async (id) => {
    const model = modelOf(id);
    const { text } = await generateText({ model, prompt: 'Hello!' });
    expect(text).toContain('Hello!');
    const streamed: string[] = [];
    for await (const piece of streamText({ model, prompt: 'Hello!' }).textStream) {
      streamed.push(piece);
    }
    expect(streamed.join('')).toBe(text);
    expect(streamed.length).toBeGreaterThan(1);
    const calls: unknown[] = [];
    const answered = await generateText({
      model,
      prompt: QUESTION,
      stopWhen: stepCountIs(3),
      tools: {
        [weather.name]: tool({
          description: weather.description,
          inputSchema: place,
          execute: async (given) => {
            calls.push(given);
            return 'sunny';
          },
        }),
      },
    });
    expect(calls).toEqual([{ city: 'Paris' }]);
    expect(answered.text).toContain('sunny');
    const { output } = await generateText({
      model,
      prompt: QUESTION,
      output: Output.object({ schema: place }),
    });
    expect(typeof output.city).toBe('string');
  });
});

describe.each([
  {
    name: 'ChatOpenAI of LangChain with useResponsesApi',
    modelOf: (model: string) =>
      new ChatOpenAI({
        model,
        apiKey: apiKey(),
        useResponsesApi: true,
        configuration: { baseURL: openAiUrl() },
      }),
  },
  {
    name: 'ChatAnthropic of LangChain',
    modelOf: (model: string) =>
      new ChatAnthropic({ model, apiKey: apiKey(), anthropicApiUrl: surfaces.restUrl }),
  },
])('$name', ({ modelOf }) => {
  test.each(MODELS)('text, a stream, a tool and an object of %s', async (id) => {
    const model = modelOf(id);
    const { text } = await model.invoke('Hello!');
    expect(text).toContain('Hello!');
    let streamed = '';
    for await (const chunk of await model.stream('Hello!')) streamed += chunk.text;
    expect(streamed).toBe(text);
    const called = langchainTool(async () => 'sunny', { ...weather, schema: place });
    const question = new HumanMessage(QUESTION);
    const bound = model.bindTools([called]);
    const asked = await bound.invoke([question]);
    const [call] = asked.tool_calls ?? [];
    expect(call).toMatchObject({ name: weather.name, args: { city: 'Paris' } });
    const result = new ToolMessage({ content: 'sunny', tool_call_id: call?.id ?? '' });
    const answered = await bound.invoke([question, asked, result]);
    expect(answered.text).toContain('sunny');
    const structured = await model.withStructuredOutput(place).invoke(QUESTION);
    expect(typeof structured.city).toBe('string');
  });
});

describe.each([
  {
    name: 'OpenAI of LlamaIndex',
    hasFormat: true,
    modelOf: (model: string) => new OpenAI({ model, apiKey: apiKey(), baseURL: openAiUrl() }),
  },
  {
    name: 'OpenAIResponses of LlamaIndex',
    // It sends no format.
    hasFormat: false,
    // Its chat has the same signature, in types of its own.
    modelOf: (model: string) =>
      new OpenAIResponses({ model, apiKey: apiKey(), baseURL: openAiUrl() }) as unknown as OpenAI,
  },
])('$name', ({ modelOf, hasFormat }) => {
  test.each(MODELS)('text, a stream, a tool and an object of %s', async (id) => {
    const llm = modelOf(id);
    const hello = [{ role: 'user' as const, content: 'Hello!' }];
    const { message } = await llm.chat({ messages: hello });
    expect(message.content).toContain('Hello!');
    let streamed = '';
    for await (const { delta } of await llm.chat({ messages: hello, stream: true })) {
      streamed += delta;
    }
    // One of them repeats its last piece for each event that has none.
    expect(streamed.startsWith(textOf(message.content))).toBe(true);
    const tools = [FunctionTool.from(async () => 'sunny', { ...weather, parameters: place })];
    const question = { role: 'user' as const, content: QUESTION };
    const asked = await llm.chat({ messages: [question], tools });
    expect(asked.message.options).toMatchObject({ toolCall: [{ name: weather.name }] });
    const { toolCall } = asked.message.options as { toolCall: { id: string }[] };
    const toolResult = { id: toolCall[0]?.id ?? '', result: 'sunny', isError: false };
    const answered = await llm.chat({
      messages: [
        question,
        asked.message,
        { role: 'user', content: 'sunny', options: { toolResult } },
      ],
      tools,
    });
    expect(answered.message.content).toContain('sunny');
    if (!hasFormat) return;
    const structured = await llm.chat({ messages: [question], responseFormat: place });
    expect(place.safeParse(JSON.parse(textOf(structured.message.content))).success).toBe(true);
  });
});

function textOf(content: unknown): string {
  if (typeof content !== 'string') throw new Error('the answer is no text');
  return content;
}
