import { randomUUID } from 'node:crypto';
import { untilStop } from '../answering/answer.ts';
import { CHOICES_PROBLEM, readChoices, readStop } from '../answering/chat-request.ts';
import { quote } from '../answering/demo-text.ts';
import { countTokens, tokensOf } from '../answering/tokens.ts';
import { asList, asNumber, asObject, asText, type JsonObject } from '../wire/json.ts';
import { sse } from '../wire/sse.ts';
import { jsonReply, STREAM, type Chunk, type Operation } from './operation.ts';

/** One text of a response. */
interface Choice {
  readonly index: number;
  /** The prompt, if the request wants it back. */
  readonly echo: string;
  readonly tokens: readonly string[];
  readonly finishReason: 'stop' | 'length';
}

interface Completion {
  readonly head: JsonObject;
  readonly choices: readonly Choice[];
  readonly usage: JsonObject;
}

const CHOICES_MAX = 64;
const QUOTE_CHARACTERS_MAX = 100;

/** Continues each prompt with a sentence about it; `suffix` is what the text leads to. */
export const complete: Operation = ({ model, body, withUsage }) => {
  const prompts = readPrompts(body.prompt);
  if (prompts === undefined) return "Invalid 'prompt': must be a text, texts, or tokens.";
  const count = readChoices(body.n);
  if (count === undefined) return CHOICES_PROBLEM;
  if (prompts.length * count > CHOICES_MAX) return `Too many texts: at most ${CHOICES_MAX}.`;
  const choices = prompts.flatMap((prompt) =>
    Array.from({ length: count }, () => choiceOf(model, prompt, body)),
  );
  const promptTokens = prompts.reduce((sum, prompt) => sum + countTokens(prompt), 0);
  const completionTokens = choices.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const completion = {
    head: {
      id: `cmpl-${randomUUID().replaceAll('-', '')}`,
      object: 'text_completion',
      created: Math.floor(Date.now() / 1000),
      model,
    },
    choices: choices.map((choice, index) => ({ ...choice, index })),
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
  if (body.stream !== true)
    return jsonReply(wholeBody(completion, withUsage), promptTokens, completionTokens);
  const isUsageRequested = asObject(body.stream_options).include_usage === true;
  return {
    contentType: STREAM,
    promptTokens,
    chunks: chunksOf(completion, isUsageRequested && withUsage),
  };
};

function choiceOf(model: string, prompt: string, body: JsonObject): Omit<Choice, 'index'> {
  const suffix = asText(body.suffix) ?? '';
  const text = [
    ` This is how ${model}, the built-in demo model, continues`,
    ` "${quote(prompt, QUOTE_CHARACTERS_MAX)}"`,
    suffix === '' ? '.' : ` up to "${quote(suffix, QUOTE_CHARACTERS_MAX)}".`,
  ].join('');
  const tokens = tokensOf(untilStop(text, readStop(body.stop)));
  const limit = asNumber(body.max_tokens) ?? Infinity;
  return {
    echo: body.echo === true ? prompt : '',
    tokens: tokens.slice(0, Math.max(0, limit)),
    finishReason: tokens.length > limit ? 'length' : 'stop',
  };
}

function readPrompts(value: unknown): readonly string[] | undefined {
  const prompt = value ?? '';
  if (typeof prompt === 'string') return [prompt];
  const list = asList(prompt);
  if (list.length === 0 || list.length > CHOICES_MAX)
    return areTokens(list) ? [tokenText(list)] : undefined;
  if (areTokens(list)) return [tokenText(list)];
  const texts = list.map(
    (item) => asText(item) ?? (areTokens(asList(item)) ? tokenText(asList(item)) : undefined),
  );
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

const areTokens = (list: readonly unknown[]): boolean =>
  list.length > 0 && list.every((item) => typeof item === 'number');

const tokenText = (list: readonly unknown[]): string => list.join(' ');

function wholeBody({ head, choices, usage }: Completion, withUsage: boolean) {
  return {
    ...head,
    choices: choices.map(({ index, echo, tokens, finishReason }) => ({
      index,
      text: `${echo}${tokens.join('')}`,
      logprobs: null,
      finish_reason: finishReason,
    })),
    ...(withUsage ? { usage } : {}),
  };
}

function* chunksOf({ head, choices, usage }: Completion, withUsage: boolean): Generator<Chunk> {
  const pending = withUsage ? { usage: null } : {};
  const chunk = (index: number, text: string, tokens: number, finish: string | null = null) => ({
    text: sse({
      ...head,
      choices: [{ index, text, logprobs: null, finish_reason: finish }],
      ...pending,
    }),
    tokens,
  });
  for (const { index, echo, tokens, finishReason } of choices) {
    if (echo !== '') yield chunk(index, echo, 0);
    for (const token of tokens) yield chunk(index, token, 1);
    yield chunk(index, '', 0, finishReason);
  }
  if (withUsage) yield { text: sse({ ...head, choices: [], usage }), tokens: 0 };
  yield { text: 'data: [DONE]\n\n', tokens: 0 };
}
