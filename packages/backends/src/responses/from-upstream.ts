import type { UpstreamCompletion, TurnUsage } from '@model-gateway/contracts';
import { chatUsage, RESPONSES_API, withOrigin } from '@model-gateway/dialects';
import { tryParseJson } from '@model-gateway/kernel';
import { UpstreamFailure, type ChatChunk } from '@model-gateway/router';
import { answerHead, createChunkShape, wholeChoice, type AnswerContext } from '../chunk-shape.ts';
import { cleanMessage, upstreamFailed } from '../errors/upstream-error.ts';
import { eventData } from '../transport/answers/event-data.ts';
import { createDeltaReader } from './event-delta.ts';
import { countOf, fieldOf, isFields, listOf, textOf, type Fields } from '../fields.ts';

/** The events before a model has done anything. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
]);
const TYPE = /^[\w.]{1,128}$/;
const RATE_LIMITS: readonly string[] = ['rate_limit_exceeded', 'insufficient_quota'];
/** The errors that another backend may not have; others are about the request. */
const BACKEND_ERRORS: ReadonlySet<string> = new Set([
  'server_error',
  ...RATE_LIMITS,
  'vector_store_timeout',
]);
const REQUEST_ERRORS = /^invalid_|image|^context_length_exceeded$/;

/** A whole response as a chat completion, which remembers it. */
export function passedCompletion(response: unknown, context: AnswerContext): UpstreamCompletion {
  const completion = completionOfResponse(response, context);
  if (!isFields(response)) return completion;
  return withOrigin(completion, { api: RESPONSES_API, value: response });
}

/** The same without what it was made of, for a client that gets other events. */
export function completionOfResponse(
  response: unknown,
  { model, clock, secret }: AnswerContext,
): UpstreamCompletion {
  if (!isFields(response) || !Array.isArray(response['output']))
    throw upstreamFailed('the upstream response is not one of the Responses API');
  if (response['status'] === 'failed') throw failureOf(cleanError(response['error'], secret));
  const head = answerHead(clock);
  return {
    ...head,
    id: textOf(response, 'id') ?? head.id,
    object: 'chat.completion' as const,
    model: textOf(response, 'model') ?? model,
    choices: [wholeChoice(messageOf(response), { finish_reason: finishReason(response) })],
    usage: usageOf(response) ?? null,
  };
}

/**
 * A streamed response as chat chunks, one for each event, which remember their events. A failure before a model has begun
 * rejects the first read, so that another backend can be tried.
 */
export async function* chunksOfEvents(
  body: AsyncIterable<Uint8Array>,
  { model, clock, secret }: AnswerContext,
  eventBytesMax: number,
): AsyncGenerator<ChatChunk, void, undefined> {
  const shape = createChunkShape(model, clock);
  const readDelta = createDeltaReader();
  let held: ChatChunk[] | undefined = [];
  let failure: UpstreamFailure | undefined;
  let isComplete = false;
  const events = eventData(body, {
    lineBytesMax: eventBytesMax,
    isComplete: () => isComplete,
  });
  for await (const data of events) {
    if (data === '[DONE]') break;
    const event = cleanEvent(eventOf(data), secret);
    const { type } = event;
    const remembered = (chunk: ChatChunk) =>
      withOrigin(chunk, { api: RESPONSES_API, value: event });
    if (type === 'error' || type === 'response.failed') {
      failure = failureOf(fieldOf(event['response'], 'error') ?? errorOf(event));
      if (held !== undefined) throw failure;
      // What it used until then is paid as reported.
      yield withUsage(remembered(shape.delta({})), event);
      if (type === 'response.failed') throw failure;
      continue;
    }
    const chunk = remembered(shape.delta(readDelta(event), finishOf(event)));
    if (held !== undefined && BEGINNINGS.has(type)) {
      held.push(chunk);
      continue;
    }
    if (held !== undefined) yield* held;
    held = undefined;
    isComplete = isEnd(type);
    yield isComplete ? withUsage(chunk, event) : chunk;
    if (isComplete) return;
  }
  throw failure ?? upstreamFailed('the upstream ended the stream before the answer was complete');
}

function withUsage(chunk: ChatChunk, { response }: ResponseEvent): ChatChunk {
  const usage = usageOf(response);
  return usage === undefined ? chunk : { ...chunk, usage };
}

interface ResponseEvent extends Fields {
  readonly type: string;
}

function eventOf(data: string): ResponseEvent {
  const event = tryParseJson(data);
  const type = textOf(event, 'type') ?? '';
  if (isResponseEvent(event, type)) return event;
  throw upstreamFailed('the upstream sent an event that is not one of its API');
}

const isResponseEvent = (event: unknown, type: string): event is ResponseEvent =>
  isFields(event) && TYPE.test(type);

const isEnd = (type: string): boolean =>
  type === 'response.completed' || type === 'response.incomplete';

const finishOf = ({ type, response }: ResponseEvent) =>
  isEnd(type) ? { finish_reason: finishReason(response) } : undefined;

function finishReason(response: unknown): string {
  if (fieldOf(response, 'status') !== 'incomplete') {
    const isCall = listOf(response, 'output').some((item) =>
      ['function_call', 'custom_tool_call', 'local_shell_call'].includes(
        textOf(item, 'type') ?? '',
      ),
    );
    return isCall ? 'tool_calls' : 'stop';
  }
  const reason = textOf(fieldOf(response, 'incomplete_details'), 'reason');
  return reason === 'content_filter' ? reason : 'length';
}

function messageOf(response: unknown) {
  const readDelta = createDeltaReader();
  const items = listOf(response, 'output');
  const parts = items.flatMap((item) => [...listOf(item, 'content'), ...listOf(item, 'summary')]);
  const joined = (types: readonly string[], name: string): string =>
    parts
      .filter((part) => types.includes(textOf(part, 'type') ?? ''))
      .map((part) => textOf(part, name) ?? '')
      .join('');
  const refusal = joined(['refusal'], 'refusal');
  const reasoning = joined(['summary_text', 'reasoning_text'], 'text');
  const calls = items.flatMap((item, at) => {
    const { tool_calls: begun = [] } = readDelta({
      type: 'response.output_item.done',
      output_index: at,
      item,
    });
    return begun;
  });
  return {
    role: 'assistant',
    content: joined(['output_text'], 'text'),
    ...(refusal === '' ? {} : { refusal }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function usageOf(response: unknown) {
  const usage = fieldOf(response, 'usage');
  const promptTokens = countOf(usage, 'input_tokens');
  const completionTokens = countOf(usage, 'output_tokens');
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const cached = fieldOf(usage, 'input_tokens_details');
  const turn: TurnUsage = {
    promptTokens,
    completionTokens,
    cachedTokens: countOf(cached, 'cached_tokens'),
    cacheWriteTokens: countOf(cached, 'cache_write_tokens'),
    reasoningTokens: countOf(fieldOf(usage, 'output_tokens_details'), 'reasoning_tokens'),
  };
  return chatUsage(turn);
}

/** Some servers nest the fields of an error event. */
const errorOf = (event: Fields): unknown => event['error'] ?? event;

function failureOf(error: unknown): UpstreamFailure {
  const message = textOf(error, 'message') ?? 'the upstream reported an error';
  const code = textOf(error, 'code') ?? 'server_error';
  const status = statusOf(code);
  return new UpstreamFailure(message, {
    isBackendAtFault: BACKEND_ERRORS.has(code),
    wasAnswered: true,
    status,
    upstream: status === undefined ? undefined : { status, message, code },
    loggedAs: 'the upstream failed to generate a response',
  });
}

/** The status with which the API refuses a request for the same reason before it begins a response. */
function statusOf(code: string): number | undefined {
  if (RATE_LIMITS.includes(code)) return 429;
  return REQUEST_ERRORS.test(code) ? 400 : undefined;
}

/** An event whose error message users may see. */
function cleanEvent(event: ResponseEvent, secret: string | null): ResponseEvent {
  const { type, error, response } = event;
  if (type === 'response.failed' && isFields(response)) {
    return { ...event, response: { ...response, error: cleanError(response['error'], secret) } };
  }
  if (type !== 'error') return event;
  return isFields(error)
    ? { ...event, error: cleanError(error, secret) }
    : { ...event, ...cleanError(event, secret) };
}

function cleanError(error: unknown, secret: string | null): Fields {
  const message = cleanMessage(textOf(error, 'message') ?? 'unknown error', secret);
  return { ...(isFields(error) ? error : {}), message };
}
