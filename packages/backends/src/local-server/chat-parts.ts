import type { AnswerPart, TurnEvent } from '@model-gateway/contracts';
import { eventsOfCall } from '@model-gateway/dialects';
import { isCheapJson, tryParseExactJson } from '@model-gateway/kernel';
import { answerRefused, upstreamFailed } from '../errors/upstream-error.ts';
import {
  finishReason,
  localUsage,
  logprobsOf,
  messageParts,
  readLocalAnswer,
  type LocalAnswer,
} from './chat-answer.ts';
import { bodyLines } from '../transport/answers/body-lines.ts';

const LINE_BYTES_MAX = 16 * 1024 * 1024;

interface StreamedAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The lines of a streamed answer; the last part has the usage, if it is known. `secret` is the backend's key, which must not appear in messages. */
export async function* localParts(
  { status, body }: StreamedAnswer,
  secret: string | null,
): AsyncGenerator<AnswerPart, void, undefined> {
  let model: string | undefined;
  let callCount = 0;
  let isDone = false;
  const lines = bodyLines(body, { lineBytesMax: LINE_BYTES_MAX, isComplete: () => isDone });
  for await (const line of lines) {
    if (!isCheapJson(line)) throw answerRefused('a line with too many values');
    const answer = readLocalAnswer(status, tryParseExactJson(line), secret);
    isDone = answer.done === true;
    model ??= answer.model;
    const events = messageParts(answer).flatMap((part): readonly TurnEvent[] => {
      if (part.type !== 'tool_call') return [part];
      callCount += 1;
      return eventsOfCall(part, callCount - 1);
    });
    if (events.length > 0) yield { events, model, logprobs: logprobsOf(answer) };
    if (!isDone) continue;
    yield* ending(answer, model, callCount > 0);
    return;
  }
  throw upstreamFailed('the upstream ended its answer before it was done');
}

function* ending(
  answer: LocalAnswer,
  model: string | undefined,
  hasToolCalls: boolean,
): Generator<AnswerPart> {
  yield { events: [{ type: 'finish', reason: finishReason(answer, hasToolCalls) }], model };
  const usage = localUsage(answer);
  if (usage !== undefined) yield { events: [{ type: 'usage', usage }] };
}
