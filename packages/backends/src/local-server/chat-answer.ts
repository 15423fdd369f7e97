import { type TokenUsage, type UpstreamCompletion } from '@model-gateway/contracts';
import { randomToken, type Clock } from '@model-gateway/kernel';
import { z } from 'zod';
import { answerHead, tokenUsage, wholeChoice } from '../chunk-shape.ts';
import { ifPresent } from '../if-present.ts';
import { answerRefused, upstreamFailed, upstreamRefused } from '../errors/upstream-error.ts';

const toolCallSchema = z.looseObject({
  id: z.string().optional(),
  function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});

const answerSchema = z.looseObject({
  error: ifPresent(z.unknown()),
  model: z.string().optional(),
  message: z
    .looseObject({
      content: ifPresent(z.string()),
      thinking: ifPresent(z.string()),
      tool_calls: ifPresent(z.array(toolCallSchema)),
    })
    .optional(),
  done: z.boolean().optional(),
  done_reason: ifPresent(z.string()),
  prompt_eval_count: z.int().nonnegative().optional(),
  eval_count: z.int().nonnegative().optional(),
  logprobs: ifPresent(z.array(z.unknown())),
});

/** One line of a streamed answer, or a whole one. */
export type LocalAnswer = z.output<typeof answerSchema>;

const CALL_ID_BYTES = 18;
const TOOL_CALLS_MAX = 10_000;

const callsSchema = z.object({ message: z.object({ tool_calls: z.unknown() }) });

function countCalls(value: unknown): number {
  const calls = callsSchema.safeParse(value).data?.message.tool_calls;
  return Array.isArray(calls) ? calls.length : 0;
}

/** Reads a response or a line of it; an error in its place is a failure, also after a good status. */
export function readLocalAnswer(
  status: number,
  value: unknown,
  secret: string | null,
): LocalAnswer {
  // Counted before they are read: reading each takes some microseconds.
  if (countCalls(value) > TOOL_CALLS_MAX)
    throw answerRefused(`more than ${TOOL_CALLS_MAX} tool calls`);
  const answer = answerSchema.safeParse(value);
  if (answer.data?.error !== undefined)
    throw upstreamRefused(status, JSON.stringify(value), secret);
  if (!answer.success) throw upstreamFailed('the upstream response is not a chat response');
  return answer.data;
}

/** A whole answer in the form of the chat-completions convention. */
export function localCompletion(
  answer: LocalAnswer,
  model: string,
  clock: Clock,
): UpstreamCompletion {
  const calls = toolCalls(answer, 0);
  const { content, ...rest } = messageFields(answer);
  return {
    ...answerHead(clock),
    object: 'chat.completion',
    model: answer.model ?? model,
    choices: [
      wholeChoice(
        {
          role: 'assistant',
          content: content ?? (calls.length > 0 ? null : ''),
          ...rest,
          ...(calls.length > 0 ? { tool_calls: calls.map(withoutIndex) } : {}),
        },
        { ...logprobsOf(answer), finish_reason: finishReason(answer, calls.length > 0) },
      ),
    ],
    usage: localUsage(answer),
  };
}

/** Content and reasoning of a response; empty ones are omitted. */
export function messageFields({ message }: LocalAnswer): {
  readonly content?: string;
  readonly reasoning_content?: string;
} {
  const { content, thinking } = message ?? {};
  return {
    ...(content === undefined || content === '' ? {} : { content }),
    ...(thinking === undefined || thinking === '' ? {} : { reasoning_content: thinking }),
  };
}

/** The tool calls of an answer, with their arguments as text, counted on from the ones before. */
export function toolCalls({ message }: LocalAnswer, firstIndex: number) {
  return (message?.tool_calls ?? []).map(({ id, function: called }, position) => ({
    index: firstIndex + position,
    id: id === undefined || id === '' ? `call_${randomToken(CALL_ID_BYTES)}` : id,
    type: 'function',
    function: { name: called.name, arguments: argumentText(called.arguments) },
  }));
}

/** The token probabilities of a response, if they were requested. */
export function logprobsOf({ logprobs }: LocalAnswer): { readonly logprobs?: unknown } {
  return logprobs === undefined ? {} : { logprobs: { content: logprobs } };
}

/** The finish reason of the convention. */
export function finishReason({ done_reason }: LocalAnswer, hasToolCalls: boolean): string {
  if (done_reason === 'length') return 'length';
  return hasToolCalls ? 'tool_calls' : 'stop';
}

/** The counts of a response. The server omits a zero; when both are missing, the usage is unknown. */
export function localUsage({ prompt_eval_count, eval_count }: LocalAnswer): TokenUsage | undefined {
  if (prompt_eval_count === undefined && eval_count === undefined) return undefined;
  return tokenUsage(prompt_eval_count ?? 0, eval_count ?? 0);
}

/** Only the pieces of a stream are numbered. */
function withoutIndex({ id, type, function: called }: ReturnType<typeof toolCalls>[number]) {
  return { id, type, function: called };
}

function argumentText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}
