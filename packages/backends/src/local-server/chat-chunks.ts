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

const LINE_BYTES_MAX = 8 * 1024 * 1024;
const LINES_AFTER_END_MAX = 16;

interface StreamedAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The lines of a streamed response as chunks of the convention; the last one has the usage, if it is known. */
export async function* localChunks(
  { status, body }: StreamedAnswer,
  { model, clock, secret }: AnswerContext,
): AsyncGenerator<ChatChunk, void, undefined> {
  const lines = bodyLines(body, LINE_BYTES_MAX);
  let shape: ChunkShape | undefined;
  let callCount = 0;
  let isDone = false;
  try {
    while (!isDone) {
      const line = await lines.next();
      if (line.done === true)
        throw upstreamFailed('the upstream ended its answer before it was done');
      if (!isCheapJson(line.value)) throw answerRefused('a line with too many values');
      const answer = readLocalAnswer(status, tryParseJson(line.value), secret);
      isDone = answer.done === true;
      shape ??= createChunkShape(answer.model ?? model, clock);
      const calls = toolCalls(answer, callCount);
      callCount += calls.length;
      const piece = {
        ...messageFields(answer),
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      };
      if (Object.keys(piece).length > 0) yield shape.delta(piece, logprobsOf(answer));
      if (isDone) yield* ending(answer, shape, callCount > 0);
    }
  } finally {
    // A connection can be used again only if its response is read to the end.
    if (isDone) void readToEnd(lines);
    else await lines.return();
  }
}

function* ending(answer: LocalAnswer, shape: ChunkShape, hasToolCalls: boolean) {
  yield shape.delta({}, { finish_reason: finishReason(answer, hasToolCalls) });
  const usage = localUsage(answer);
  if (usage !== undefined) yield shape.usage(usage);
}

async function readToEnd(lines: AsyncGenerator<string, void, undefined>): Promise<void> {
  try {
    for (let count = 0; count < LINES_AFTER_END_MAX; count += 1) {
      if ((await lines.next()).done === true) return;
    }
    await lines.return();
  } catch {
    // The response was complete; a failure of its connection does not matter.
  }
}
