import { isCheapJson, tryParseJson } from '@model-gateway/kernel';
import { createParser } from 'eventsource-parser';
import { answerRefused } from '../../errors/upstream-error.ts';
import { lineTooLong } from './body-lines.ts';
import { splitBody, type BodySplitter } from './split-body.ts';

const LINE_BYTES_MAX = 16 * 1024 * 1024;

interface EventDataOptions {
  readonly lineBytesMax?: number;
  /** Whether the events that were read may be the whole answer. */
  readonly isComplete?: () => boolean;
}

/** The data of server-sent events, each of which is JSON. */
export const eventData = (
  body: AsyncIterable<Uint8Array>,
  { lineBytesMax = LINE_BYTES_MAX, isComplete }: EventDataOptions = {},
): AsyncGenerator<string, void, undefined> =>
  splitBody(body, createEventSplitter(lineBytesMax), isComplete);

function createEventSplitter(bytesMax: number): BodySplitter {
  let events: string[] = [];
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: bytesMax,
    onEvent({ data }) {
      // The parser counts characters, and only those that wait for their end.
      if (Buffer.byteLength(data) > bytesMax) throw lineTooLong(bytesMax);
      events.push(...jsonTexts(data));
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') throw lineTooLong(bytesMax);
    },
  });

  function feed(text: string): readonly string[] {
    parser.feed(text);
    const complete = events;
    events = [];
    return complete;
  }

  return {
    push: (bytes) => feed(decoder.decode(bytes, { stream: true })),
    // The last event counts without the empty line after it, too.
    rest: () => feed(`${decoder.decode()}\n\n`),
  };
}

/** The JSON of one event. Some servers leave out the empty line between events, whose data is one line each. */
function jsonTexts(data: string): readonly string[] {
  if (!isCheapJson(data)) throw answerRefused('an event with too many values');
  const isDivided = data.includes('\n') && tryParseJson(data) === undefined;
  return (isDivided ? data.split('\n') : [data])
    .map((text) => text.trim())
    .filter((text) => text !== '');
}
