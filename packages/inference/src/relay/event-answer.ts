import { asksForUsage } from '@model-gateway/dialects';
import { estimateTokens } from '@model-gateway/billing';
import { type Clock, type Log, newId, tryParseExactJson } from '@model-gateway/kernel';
import { type RelayedAnswer, UpstreamFailure } from '@model-gateway/router';
import { property } from '../stream/chunk-fields.ts';
import { type EventStream, EventStreamReader } from '../stream/read-stream.ts';
import { createStreamObserver } from '../stream/stream-observer.ts';
import { streamUsage } from '../chat/settle-turn.ts';
import { answerBytes } from './answer-bytes.ts';
import type { AnswerReader, AnswerReaderOptions } from './answer-reader.ts';

/**
 * A streamed text completion. Its usage is always requested, for the bill, and is shown only to clients that asked for it,
 * as in chat.
 */
export function readEventAnswer(
  answer: RelayedAnswer,
  {
    fields,
    model,
    onSign,
    clock,
    log,
  }: AnswerReaderOptions & { readonly clock: Clock; readonly log: Log },
): AnswerReader {
  const observer = createStreamObserver({ keepsReply: false });
  const passesUsage = asksForUsage(fields);
  const events = new EventStreamReader(streamOf(answer), {
    observer,
    passesEvents: true,
    passesUsage,
    parsesAll: true,
    onSign,
    log,
  });
  return {
    contentType: 'text/event-stream',
    length: undefined,
    next: () => events.nextEvents(),
    leave: () => events.leave(),
    get generatedTokens() {
      return estimateTokens(observer.text);
    },
    get reported() {
      const { cachedTokens, cacheWriteTokens, mediaTokens } = observer;
      return { cachedTokens, cacheWriteTokens, mediaTokens };
    },
    usage: (end) => streamUsage(observer, end),
    // The billed estimate, for a client that asked for the usage of an upstream that reported none.
    lastEvent: (usage) =>
      passesUsage && usage !== observer.usage
        ? eventOf({
            id: `cmpl-${newId()}`,
            object: 'text_completion',
            created: Math.floor(clock.now() / 1000),
            model,
            choices: [],
            usage,
          })
        : undefined,
  };
}

const eventOf = (value: object): Buffer => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);

function streamOf(answer: RelayedAnswer): EventStream {
  const { contentType, bytes, cleanMessage } = answer;
  return contentType.startsWith('text/event-stream')
    ? { form: 'events', bytes, cleanMessage }
    : { form: 'events', bytes: oneEvent(answer), cleanMessage };
}

/** The answer of an upstream that ignored `stream`: a chunk has the same form. */
async function* oneEvent(answer: RelayedAnswer): AsyncGenerator<Buffer> {
  const source = answerBytes(answer);
  const chunks: Buffer[] = [];
  for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
    chunks.push(chunk);
  }
  const value = tryParseExactJson(Buffer.concat(chunks).toString('utf8'));
  const choices = property(value, 'choices');
  if (typeof value !== 'object' || value === null || !Array.isArray(choices))
    throw notACompletion();
  yield eventOf({ ...value, choices: choices.map(finishedChoice) });
}

/** The answer arrived as a whole, so that its choices have ended. */
const finishedChoice = (choice: unknown): unknown =>
  typeof choice === 'object' && choice !== null
    ? { ...choice, finish_reason: property(choice, 'finish_reason') ?? 'stop' }
    : choice;

const notACompletion = (): UpstreamFailure =>
  new UpstreamFailure('the upstream response is not a text completion', {
    isBackendAtFault: true,
    wasUnreadable: true,
  });
