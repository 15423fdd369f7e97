import {
  readWritten,
  type FinishReason,
  type ReasoningPart,
  type TextPart,
  type ToolCallPart,
  type TurnAnswer,
  type TurnUsage,
} from '@model-gateway/contracts';
import { randomToken } from '@model-gateway/kernel';
import { z } from 'zod';
import { answerHead, type AnswerContext } from '../answer-head.ts';
import { ifPresent } from '../if-present.ts';
import { answerRefused, unreadableAnswer, upstreamRefused } from '../errors/upstream-error.ts';

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
  prompt_eval_count: readWritten(z.int().nonnegative()).optional(),
  eval_count: readWritten(z.int().nonnegative()).optional(),
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
  if (!answer.success) throw unreadableAnswer('the upstream response is not a chat response');
  return answer.data;
}

/** A whole answer. */
export function localAnswer(answer: LocalAnswer, { model, clock }: AnswerContext): TurnAnswer {
  const parts = messageParts(answer);
  const hasCalls = parts.some(({ type }) => type === 'tool_call');
  return {
    ...answerHead(clock),
    model: answer.model ?? model,
    parts,
    logprobs: logprobsOf(answer),
    finish: finishReason(answer, hasCalls),
    usage: localUsage(answer),
  };
}

/** What an answer, or a line of it, says; empty texts are omitted. */
export function messageParts({ message }: LocalAnswer): readonly SaidPart[] {
  const { content = '', thinking = '', tool_calls: calls = [] } = message ?? {};
  return [
    ...(thinking === '' ? [] : [{ type: 'reasoning' as const, text: thinking }]),
    ...(content === '' ? [] : [{ type: 'text' as const, text: content }]),
    ...calls.map(({ id, function: called }) => ({
      type: 'tool_call' as const,
      id: id === undefined || id === '' ? `call_${randomToken(CALL_ID_BYTES)}` : id,
      name: called.name,
      arguments: argumentText(called.arguments),
    })),
  ];
}

type SaidPart = TextPart | ReasoningPart | ToolCallPart;

/** The token probabilities of a response, if they were requested. */
export const logprobsOf = ({ logprobs }: LocalAnswer): unknown =>
  logprobs === undefined ? undefined : { content: logprobs };

/** Why an answer ended. */
export function finishReason({ done_reason }: LocalAnswer, hasToolCalls: boolean): FinishReason {
  if (done_reason === 'length') return 'length';
  return hasToolCalls ? 'tool_calls' : 'stop';
}

/** The counts of a response. The server omits a zero; when both are missing, the usage is unknown. */
export function localUsage({ prompt_eval_count, eval_count }: LocalAnswer): TurnUsage | undefined {
  if (prompt_eval_count === undefined && eval_count === undefined) return undefined;
  return { promptTokens: prompt_eval_count ?? 0, completionTokens: eval_count ?? 0 };
}

function argumentText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}
