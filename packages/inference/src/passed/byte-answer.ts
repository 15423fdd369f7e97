import { createTokenCount } from '@model-gateway/billing';
import type { PassedAnswer } from '@model-gateway/router';
import { answerBytes } from './answer-bytes.ts';
import type { AnswerReader } from './answer-reader.ts';
import { createEventFacts, type EventFacts } from './event-facts.ts';
import { tokenUsage } from './reported-usage.ts';
import { createSubtitleEnd } from './subtitle-end.ts';

/** Audio, text, or events, which pass while they arrive. */
export function readByteAnswer(answer: PassedAnswer): AnswerReader {
  const { contentType } = answer;
  const source = answerBytes(answer);
  const facts = factsOf(contentType);
  return {
    contentType,
    isEvents: false,
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

function factsOf(contentType: string): EventFacts | undefined {
  if (contentType.startsWith('text/event-stream')) return createEventFacts();
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
