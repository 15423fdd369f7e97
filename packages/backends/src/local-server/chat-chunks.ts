import { isCheapJson, tryParseJson } from '@model-gateway/kernel';
import type { ChatChunk } from '@model-gateway/router';
import { createChunkShape, type AnswerContext, type ChunkShape } from '../chunk-shape.ts';
import { answerRefused, upstreamFailed } from '../errors/upstream-error.ts';
import {
  finishReason,
  localUsage,
  logprobsOf,
  messageFields,
  readLocalAnswer,
  toolCalls,
  type LocalAnswer,
} from './chat-answer.ts';
import { bodyLines } from '../transport/answers/body-lines.ts';

const LINE_BYTES_MAX = 16 * 1024 * 1024;

interface StreamedAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The lines of a streamed response as chunks of the convention; the last one has the usage, if it is known. */
export async function* localChunks(
  { status, body }: StreamedAnswer,
  { model, clock, secret }: AnswerContext,
): AsyncGenerator<ChatChunk, void, undefined> {
  let shape: ChunkShape | undefined;
  let callCount = 0;
  let isDone = false;
  const lines = bodyLines(body, { lineBytesMax: LINE_BYTES_MAX, isComplete: () => isDone });
  for await (const line of lines) {
    if (!isCheapJson(line)) throw answerRefused('a line with too many values');
    const answer = readLocalAnswer(status, tryParseJson(line), secret);
    isDone = answer.done === true;
    shape ??= createChunkShape(answer.model ?? model, clock);
    const calls = toolCalls(answer, callCount);
    callCount += calls.length;
    const piece = {
      ...messageFields(answer),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    if (Object.keys(piece).length > 0) yield shape.delta(piece, logprobsOf(answer));
    if (!isDone) continue;
    yield* ending(answer, shape, callCount > 0);
    return;
  }
  throw upstreamFailed('the upstream ended its answer before it was done');
}

function* ending(answer: LocalAnswer, shape: ChunkShape, hasToolCalls: boolean) {
  yield shape.delta({}, { finish_reason: finishReason(answer, hasToolCalls) });
  const usage = localUsage(answer);
  if (usage !== undefined) yield shape.usage(usage);
}
