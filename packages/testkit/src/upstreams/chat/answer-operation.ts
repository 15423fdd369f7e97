import { randomUUID } from 'node:crypto';
import {
  asObject,
  asText,
  chatError,
  sse,
  type Operation,
  type OperationReply,
} from '@model-gateway/demo-model/answers';
import { faultOf } from '../faults/fault-plan.ts';
import type { ChatFault } from '../faults/stream-faults.ts';
import type { ServedLog } from '../recording/served-log.ts';
import type { Exchange } from '../wire/exchange.ts';
import { sendCut } from '../wire/send-cut.ts';
import { writeStream, type StreamOutcome } from '../wire/stream-writer.ts';

interface OperationTurn {
  readonly exchange: Exchange;
  readonly operation: Operation;
  readonly model: string;
  readonly faults: readonly ChatFault[];
  readonly tokenDelayMs?: number | undefined;
  readonly served: ServedLog;
}

/** An invalid line of a stream. */
const GARBAGE_LINE = 'data: {"id": "half a chu\n\n';

/** Responds to a request, and records what was served; returns an error message for an invalid one. */
export async function answerOperation(turn: OperationTurn): Promise<string | undefined> {
  const { exchange, model, faults, served } = turn;
  const withUsage = faultOf(faults, 'no-usage') === undefined;
  const reply = await turn.operation({ model, body: asObject(exchange.json), withUsage });
  if (typeof reply === 'string') return reply;
  const { tokens, completed } = await send(turn, reply);
  served.record({
    id: reply.id ?? randomUUID(),
    requestId: asText(exchange.headers['x-request-id']),
    model,
    promptTokens: reply.promptTokens,
    completionTokens: tokens,
    completed,
  });
  return undefined;
}

async function send(
  { exchange, faults, tokenDelayMs = 0 }: OperationTurn,
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
