import { createTokenCount } from '@model-gateway/billing';
import type { RelayedAnswer, UpstreamFailure } from '@model-gateway/router';
import { brokenOffBy } from '../stream/broken-off.ts';
import { answerBytes } from './answer-bytes.ts';
import type { AnswerReader } from './answer-reader.ts';
import { createRelayedEvents, type EventFacts } from './event-facts.ts';
import { tokenUsage } from './reported-usage.ts';
import { createSubtitleEnd } from './subtitle-end.ts';

/** Audio or text, which pass while they arrive. */
export function readByteAnswer(answer: RelayedAnswer): AnswerReader {
  const { contentType } = answer;
  const source = answerBytes(answer);
  const facts = factsOf(contentType);
  return {
    contentType,
    length: undefined,
    async next() {
      const chunk = await source.next();
      if (chunk !== undefined) facts?.add(chunk);
      return chunk;
    },
    leave: () => source.leave(),
    get generatedTokens() {
      return facts?.tokens ?? 0;
    },
    get reported() {
      return facts?.reported ?? {};
    },
    usage: ({ promptTokens }) => facts?.usage ?? tokenUsage(promptTokens(), facts?.tokens ?? 0),
  };
}

/** Events of images, speech or a transcription, which pass as they are; an error among them ends the answer. */
export function readRelayedEvents(answer: RelayedAnswer): AnswerReader {
  const source = answerBytes(answer);
  const events = createRelayedEvents();
  let isOver = false;
  let failure: UpstreamFailure | undefined;
  return {
    contentType: answer.contentType,
    length: undefined,
    async next() {
      while (!isOver) {
        const chunk = await source.next();
        const passed = events.pass(chunk);
        if (events.error !== undefined) {
          failure = brokenOffBy(answer.cleanMessage(events.error));
          source.leave();
        }
        isOver = chunk === undefined || failure !== undefined;
        if (passed.length > 0) return passed;
      }
      if (failure !== undefined) throw failure;
      return undefined;
    },
    leave: () => source.leave(),
    get generatedTokens() {
      return events.tokens;
    },
    get reported() {
      return events.reported;
    },
    usage: ({ promptTokens }) => events.usage ?? tokenUsage(promptTokens(), events.tokens),
  };
}

/** Whether an answer has server-sent events. */
export const hasEvents = ({ contentType }: Pick<RelayedAnswer, 'contentType'>): boolean =>
  /^text\/event-stream/i.test(contentType);

function factsOf(contentType: string): EventFacts | undefined {
  return contentType.startsWith('text/') ? createTextFacts() : undefined;
}

/** A transcription as text or subtitles. */
function createTextFacts(): EventFacts {
  const count = createTokenCount();
  const subtitles = createSubtitleEnd();
  const decoder = new TextDecoder();
  return {
    add(chunk) {
      const text = decoder.decode(chunk, { stream: true });
      count.add(text);
      subtitles.add(text);
    },
    usage: undefined,
    get reported() {
      return { audioSeconds: subtitles.seconds };
    },
    get tokens() {
      return count.tokens;
    },
  };
}
