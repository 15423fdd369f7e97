import { chatTurn } from '@model-gateway/dialects';
import { systemClock } from '@model-gateway/kernel';
import { PROVIDERS, startProviderApi } from '@model-gateway/testkit/upstreams';
import { createBackend } from '../factory/create-backend.ts';

type Name = keyof typeof PROVIDERS;

const KEY = 'the-key-of-the-provider';
const WRONG = 'a-key-that-nobody-has-given-out';
const timeouts = { connectMs: 20_000, idleMs: 20_000, totalMs: 20_000 };
const never = new AbortController().signal;

interface Guide {
  readonly name: Name;
  /** The model of the guide, and how the guide registers the backend. */
  readonly model: string;
  readonly models?: readonly string[];
  readonly authHeader?: string;
  readonly listed: object;
  /** What a wrong key looks like, to the probe and to a chat. */
  readonly probed: object;
  readonly refused: string;
}

const guides: readonly Guide[] = [
  {
    name: 'azure',
    model: 'my-gpt-4o',
    models: ['my-gpt-4o'],
    authHeader: 'api-key',
    listed: {
      state: 'Healthy',
      models: ['my-gpt-4o', 'gpt-4o-2024-11-20', 'text-embedding-3-large'],
    },
    probed: {
      state: 'Healthy',
      models: ['my-gpt-4o'],
      reason: 'models are not listed: the models listing answered 401',
    },
    refused: 'upstream 401: Access denied due to invalid subscription key',
  },
  {
    name: 'anthropic',
    model: 'claude-sonnet-4-5',
    models: ['claude-sonnet-4-5'],
    listed: {
      state: 'Healthy',
      models: ['claude-sonnet-4-5'],
      reason: 'models are not listed: the models listing answered 401',
    },
    probed: { state: 'Healthy' },
    refused: 'upstream 401: invalid x-api-key',
  },
  {
    name: 'gemini',
    model: 'gemini-2.5-flash',
    models: ['gemini-2.5-flash'],
    listed: {
      state: 'Healthy',
      models: ['gemini-2.5-flash', 'models/gemini-2.5-flash', 'models/gemini-embedding-001'],
    },
    probed: { state: 'Degraded', reason: 'the models listing answered 400' },
    refused: 'upstream 400: API key not valid. Please pass a valid API key.',
  },
  {
    name: 'openRouter',
    model: 'openai/gpt-4o-mini',
    listed: {
      state: 'Healthy',
      models: ['openai/gpt-4o-mini'],
      contextLengths: new Map([['openai/gpt-4o-mini', 128_000]]),
    },
    probed: { state: 'Healthy' },
    refused: 'upstream 401: No auth credentials found',
  },
  {
    name: 'vllm',
    model: 'qwen3-8b',
    listed: {
      state: 'Healthy',
      models: ['qwen3-8b'],
      contextLengths: new Map([['qwen3-8b', 40_960]]),
    },
    probed: { state: 'Degraded', reason: 'the models listing answered 401' },
    refused: 'upstream 401: Unauthorized',
  },
  {
    name: 'llamaCpp',
    model: 'gemma-3-4b',
    listed: { state: 'Healthy', models: ['gemma-3-4b'] },
    probed: { state: 'Healthy' },
    refused: 'upstream 401: Invalid API Key',
  },
  {
    name: 'lmStudio',
    model: 'qwen/qwen3-4b-2507',
    listed: {
      state: 'Healthy',
      models: ['qwen/qwen3-4b-2507', 'text-embedding-nomic-embed-text-v1.5'],
    },
    probed: { state: 'Degraded', reason: 'the models listing answered 401' },
    refused: 'upstream 401: Invalid API token',
  },
];

test.each(guides)(
  'registered as its guide says, $name answers, and a wrong key shows where the guide says',
  async ({ name, model, models = [], authHeader, listed, probed, refused }) => {
    const api = await startProviderApi(PROVIDERS[name], KEY);
    const register = (apiKey: string) =>
      createBackend(
        {
          name,
          type: 'external',
          url: `${api.url}${PROVIDERS[name].basePath}`,
          apiKey,
          authHeader,
          models,
          capabilities: null,
        },
        { timeouts, clock: systemClock },
      );
    const backend = register(KEY);
    const refusedBackend = register(WRONG);
    const chat = { model, messages: [{ role: 'user', content: 'Hello!' }] };
    try {
      expect(await backend.probe(never)).toMatchObject(listed);
      expect(await backend.chat?.(chatTurn(chat), never)).toMatchObject({
        completion: { model, choices: [{ message: { role: 'assistant' } }] },
      });
      expect(await refusedBackend.probe(never)).toMatchObject(probed);
      await expect(refusedBackend.chat?.(chatTurn(chat), never)).rejects.toThrow(refused);
    } finally {
      await backend.close();
      await refusedBackend.close();
      await api.close();
    }
  },
);
