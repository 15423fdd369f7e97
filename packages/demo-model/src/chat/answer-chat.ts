import { randomUUID } from 'node:crypto';
import {
  composeAnswer,
  countCompletionTokens,
  type Answer,
  type AnswerText,
} from '../answering/answer.ts';
import type { ChatRequest } from '../answering/chat-request.ts';
import { faultOf } from '../faults/fault-plan.ts';
import { applyStreamFaults, type ChatFault } from '../faults/stream-faults.ts';
import type { ServedLog } from '../recording/served-log.ts';
import type { Exchange } from '../wire/exchange.ts';
import { asObject, asText } from '../wire/json.ts';
import { sse } from '../wire/sse.ts';
import { sendCut } from '../wire/send-cut.ts';
import { writeStream, type StreamOutcome } from '../wire/stream-writer.ts';
import {
  chatError,
  completionBody,
  completionChunks,
  type CompletionHead,
} from './completion-shapes.ts';

interface ChatTurn {
  readonly exchange: Exchange;
  readonly request: ChatRequest;
  readonly faults: readonly ChatFault[];
  readonly answerText: AnswerText | undefined;
  readonly tokenDelayMs: number;
  readonly served: ServedLog;
}

/** An invalid line of a stream. */
export const GARBAGE_LINE = 'data: {"id": "half a chu\n\n';

/** Responds to one chat request, streamed or not, and records the tokens that were sent. */
export async function answerChat(turn: ChatTurn): Promise<void> {
  const { exchange, request, faults, served } = turn;
  const answer = applyStreamFaults(composeAnswer(request, turn.answerText), faults);
  const head: CompletionHead = {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
  const streamed = asObject(exchange.json).stream === true;
  const outcome = streamed
    ? await streamAnswer(turn, head, answer)
    : await sendAnswer(turn, head, answer);
  served.record({
    id: head.id,
    requestId: asText(exchange.headers['x-request-id']),
    model: request.model,
    promptTokens: answer.promptTokens,
    completionTokens: outcome.tokens,
    completed: outcome.completed,
  });
}

async function sendAnswer(
  { exchange, request, faults }: ChatTurn,
  head: CompletionHead,
  answer: Answer,
): Promise<StreamOutcome> {
  if (exchange.closed.aborted) return { tokens: 0, completed: false };
  const body = completionBody(head, answer, {
    choices: request.choices,
    usage: faultOf(faults, 'no-usage') === undefined,
  });
  if (faultOf(faults, 'cut') !== undefined) {
    await sendCut(exchange, JSON.stringify(body));
    return { tokens: 0, completed: false };
  }
  exchange.sendJson(200, body);
  return { tokens: countCompletionTokens(answer) * request.choices, completed: true };
}

function streamAnswer(
  { exchange, request, faults, tokenDelayMs }: ChatTurn,
  head: CompletionHead,
  answer: Answer,
): Promise<StreamOutcome> {
  const isUsageRequested = asObject(asObject(exchange.json).stream_options).include_usage === true;
  exchange.response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  return writeStream(exchange, {
    chunks: completionChunks(head, answer, {
      choices: request.choices,
      usage: isUsageRequested && faultOf(faults, 'no-usage') === undefined,
      done: faultOf(faults, 'no-done') === undefined,
    }),
    delayMs: tokenDelayMs,
    faults,
    garbage: GARBAGE_LINE,
    errorChunk: (message) => sse(chatError(message, 'server_error')),
  });
}
