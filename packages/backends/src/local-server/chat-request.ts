import type { UpstreamChat, UpstreamTurn } from '@model-gateway/contracts';
import { assertOneAnswer } from '../errors/cannot-send.ts';
import { localMessages } from './message.ts';

// Top-level fields of the convention that are options of these servers, with the name of the option.
const OPTION_NAMES: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  min_p: 'min_p',
  seed: 'seed',
  stop: 'stop',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  max_tokens: 'num_predict',
  max_completion_tokens: 'num_predict',
};

const SAID_OTHERWISE: ReadonlySet<string> = new Set([
  ...Object.keys(OPTION_NAMES),
  'messages',
  'stream',
  'stream_options',
  'response_format',
  'reasoning_effort',
  'options',
]);

/** The body of `/api/chat` for a chat of the convention; unknown fields are passed on unchanged. */
export function localChat(body: UpstreamChat, { stream }: { readonly stream: boolean }): unknown {
  assertOneAnswer('local-server', body['n']);
  const rest = Object.fromEntries(
    Object.entries(body).filter(([name]) => !SAID_OTHERWISE.has(name)),
  );
  // These servers have no tool choice; a model without tools calls none.
  if (body['tool_choice'] === 'none') delete rest['tools'];
  const options = optionsOf(body);
  return {
    ...formatOf(body['response_format']),
    ...thinkOf(body['reasoning_effort']),
    ...rest,
    messages: localMessages(body['messages']),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    stream,
  };
}

/** What these servers cannot be sent: which tool must be called, and what a chat cannot say. */
export function localIgnored({ chat, lost }: UpstreamTurn): readonly string[] {
  const choice = chat['tool_choice'];
  const isDemand = choice === 'required' || isObject(choice);
  return isDemand ? ['tool_choice', ...lost] : lost;
}

function optionsOf(body: UpstreamChat): Readonly<Record<string, unknown>> {
  const given = isObject(body['options']) ? body['options'] : {};
  const named = Object.entries(OPTION_NAMES).flatMap(([name, option]) => {
    const value = body[name];
    if (value === undefined || value === null) return [];
    return [[option, name === 'stop' && !Array.isArray(value) ? [value] : value] as const];
  });
  return { ...given, ...Object.fromEntries(named) };
}

function formatOf(responseFormat: unknown): { readonly format?: unknown } {
  if (!isObject(responseFormat)) return {};
  if (responseFormat['type'] === 'json_object') return { format: 'json' };
  const schema =
    responseFormat['type'] === 'json_schema' ? responseFormat['json_schema'] : undefined;
  return isObject(schema) && schema['schema'] !== undefined ? { format: schema['schema'] } : {};
}

/** Efforts for which these servers have another word. */
const THINK: Readonly<Record<string, unknown>> = { none: false, minimal: 'low', xhigh: 'high' };

function thinkOf(effort: unknown): { readonly think?: unknown } {
  if (typeof effort !== 'string') return {};
  return { think: THINK[effort] ?? effort };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
