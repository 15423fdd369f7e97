import { randomUUID } from 'node:crypto';
import { GARBAGE_LINE } from '../chat/answer-chat.ts';
import { chatError } from '../chat/completion-shapes.ts';
import { faultOf } from '../faults/fault-plan.ts';
import type { ChatFault } from '../faults/stream-faults.ts';
import type { ServedLog } from '../recording/served-log.ts';
import type { Exchange } from '../wire/exchange.ts';
import { asObject, asText } from '../wire/json.ts';
import { sendCut } from '../wire/send-cut.ts';
import { sse } from '../wire/sse.ts';
import { writeStream, type StreamOutcome } from '../wire/stream-writer.ts';
import type { Operation, OperationReply } from './operation.ts';

interface OperationTurn {
  readonly exchange: Exchange;
  readonly operation: Operation;
  readonly model: string;
  readonly faults: readonly ChatFault[];
  readonly tokenDelayMs: number;
  readonly served: ServedLog;
}

/** Responds to a request that is not chat, and records what was served; returns an error message for an invalid one. */
export async function answerOperation(turn: OperationTurn): Promise<string | undefined> {
  const { exchange, model, faults, served } = turn;
  const withUsage = faultOf(faults, 'no-usage') === undefined;
  const reply = await turn.operation({ model, body: asObject(exchange.json), withUsage });
  if (typeof reply === 'string') return reply;
  const { tokens, completed } = await send(turn, reply);
  served.record({
    id: randomUUID(),
    requestId: asText(exchange.headers['x-request-id']),
    model,
    promptTokens: reply.promptTokens,
    completionTokens: tokens,
    completed,
  });
  return undefined;
}

async function send(
  { exchange, faults, tokenDelayMs }: OperationTurn,
  reply: OperationReply,
): Promise<StreamOutcome> {
  if (exchange.closed.aborted) return { tokens: 0, completed: false };
  if ('chunks' in reply) {
    exchange.response.writeHead(200, {
      'content-type': reply.contentType,
      'cache-control': 'no-cache',
    });
    return writeStream(exchange, {
      chunks: reply.chunks,
      delayMs: tokenDelayMs,
      faults,
      garbage: GARBAGE_LINE,
      errorChunk: (message) => sse(chatError(message, 'server_error')),
    });
  }
  if (faultOf(faults, 'cut') !== undefined) {
    await sendCut(exchange, reply.content.toString());
    return { tokens: 0, completed: false };
  }
  exchange.send(200, reply.contentType, reply.content);
  return { tokens: reply.completionTokens, completed: true };
}
