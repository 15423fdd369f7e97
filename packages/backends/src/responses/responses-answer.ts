import type {
  AnswerPart,
  FinishReason,
  ToolCallPart,
  TurnAnswer,
  TurnUsage,
} from '@model-gateway/contracts';
import { RESPONSES_API } from '@model-gateway/dialects';
import { tryParseExactJson } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { answerHead, type AnswerContext } from '../answer-head.ts';
import { cleanMessage, unreadableAnswer, upstreamFailed } from '../errors/upstream-error.ts';
import { countOf, fieldOf, isFields, listOf, textOf, type Fields } from '../fields.ts';
import { eventData } from '../transport/answers/event-data.ts';
import { createResponseReader } from './read-event.ts';

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

/** A whole response. `secret` is the backend's key, which must not appear in messages. */
export function answerOfResponse(
  response: unknown,
  { model, clock, secret }: AnswerContext & { readonly secret: string | null },
): TurnAnswer {
  if (!isFields(response) || !Array.isArray(response['output']))
    throw unreadableAnswer('the upstream response is not one of the Responses API');
  if (response['status'] === 'failed') throw failureOf(cleanError(response['error'], secret));
  const head = answerHead(clock);
  return {
    id: textOf(response, 'id') ?? head.id,
    created: head.created,
    model: textOf(response, 'model') ?? model,
    parts: partsOfOutput(listOf(response, 'output')),
    finish: finishReason(response),
    usage: usageOf(response),
  };
}

/**
 * The events of a streamed response. A failure before a model has begun rejects the first read, so that another backend can
 * be tried. `secret` is the backend's key, which must not appear in messages.
 */
export async function* partsOfResponse(
  body: AsyncIterable<Uint8Array>,
  secret: string | null,
  eventBytesMax: number,
): AsyncGenerator<AnswerPart, void, undefined> {
  const read = createResponseReader();
  let held: AnswerPart[] | undefined = [];
  let failure: UpstreamFailure | undefined;
  let isComplete = false;
  const data = eventData(body, { lineBytesMax: eventBytesMax, isComplete: () => isComplete });
  for await (const text of data) {
    if (text === '[DONE]') break;
    const event = cleanEvent(eventOf(text), secret);
    const { type } = event;
    const own = { api: RESPONSES_API, value: event };
    if (type === 'error' || type === 'response.failed') {
      failure = failureOf(fieldOf(event['response'], 'error') ?? errorOf(event));
      if (held !== undefined) throw failure;
      // What it used until then is paid as reported.
      yield { own, events: usageEvents(event) };
      if (type === 'response.failed') throw failure;
      continue;
    }
    const said = read(event);
    if (held !== undefined && BEGINNINGS.has(type)) {
      held.push({ own, events: said });
      continue;
    }
    if (held !== undefined) yield* held;
    held = undefined;
    isComplete = isEnd(type);
    const ended = isComplete ? [finishOf(event), ...usageEvents(event)] : [];
    yield { own, events: [...said, ...ended] };
    if (isComplete) return;
  }
  throw failure ?? upstreamFailed('the upstream ended the stream before the answer was complete');
}

function usageEvents({ response }: ResponseEvent) {
  const usage = usageOf(response);
  return usage === undefined ? [] : [{ type: 'usage' as const, usage }];
}

interface ResponseEvent extends Fields {
  readonly type: string;
}

function eventOf(data: string): ResponseEvent {
  const event = tryParseExactJson(data);
  const type = textOf(event, 'type') ?? '';
  if (isResponseEvent(event, type)) return event;
  throw unreadableAnswer('the upstream sent an event that is not one of its API');
}

const isResponseEvent = (event: unknown, type: string): event is ResponseEvent =>
  isFields(event) && TYPE.test(type);

const isEnd = (type: string): boolean =>
  type === 'response.completed' || type === 'response.incomplete';

const finishOf = ({ response }: ResponseEvent) => ({
  type: 'finish' as const,
  reason: finishReason(response),
});

function finishReason(response: unknown): FinishReason {
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

function partsOfOutput(items: readonly unknown[]): TurnAnswer['parts'] {
  const read = createResponseReader();
  const parts = items.flatMap((item) => [...listOf(item, 'content'), ...listOf(item, 'summary')]);
  const joined = (types: readonly string[], name: string): string =>
    parts
      .filter((part) => types.includes(textOf(part, 'type') ?? ''))
      .map((part) => textOf(part, name) ?? '')
      .join('');
  const reasoning = joined(['summary_text', 'reasoning_text'], 'text');
  const text = joined(['output_text'], 'text');
  const refusal = joined(['refusal'], 'refusal');
  const calls = items.flatMap((item, at): readonly ToolCallPart[] => {
    const [call, written] = read({ type: 'response.output_item.done', output_index: at, item });
    if (call?.type !== 'tool_call') return [];
    const { id, name } = call;
    const given = written?.type === 'tool_arguments' ? written.text : '';
    return [{ type: 'tool_call', id, name, arguments: given }];
  });
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(refusal === '' ? [] : [{ type: 'refusal' as const, text: refusal }]),
    ...calls,
  ];
}

function usageOf(response: unknown): TurnUsage | undefined {
  const usage = fieldOf(response, 'usage');
  const promptTokens = countOf(usage, 'input_tokens');
  const completionTokens = countOf(usage, 'output_tokens');
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const cached = fieldOf(usage, 'input_tokens_details');
  return {
    promptTokens,
    completionTokens,
    cachedTokens: countOf(cached, 'cached_tokens'),
    cacheWriteTokens: countOf(cached, 'cache_write_tokens'),
    reasoningTokens: countOf(fieldOf(usage, 'output_tokens_details'), 'reasoning_tokens'),
  };
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
