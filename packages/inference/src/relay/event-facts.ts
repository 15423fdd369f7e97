import { createTokenCount } from '@model-gateway/billing';
import { readMediaTokens, type MediaTokens, type TokenUsage } from '@model-gateway/contracts';
import { tryParseJson } from '@model-gateway/kernel';
import { errorOf, errorOfNamed, property } from '../stream/chunk-fields.ts';
import { createEventSplitter } from '../stream/event-splitter.ts';
import type { ReportedUnits } from './billed-units.ts';
import { reportedSeconds, reportedUsage } from './reported-usage.ts';

/** What the events of a passing stream say about its usage: of images, of speech and of transcriptions. */
export interface EventFacts {
  add(chunk: Buffer): void;
  readonly usage: TokenUsage | undefined;
  readonly reported: ReportedUnits;
  /** An estimate of the generated text. */
  readonly tokens: number;
}

/** The events of a passing stream. */
export interface RelayedEvents extends Omit<EventFacts, 'add'> {
  /** The events to pass that are complete with these bytes, or, without bytes, at the end; those before an error. */
  pass(chunk: Buffer | undefined): Buffer;
  /** The message of the event with an error. */
  readonly error: string | undefined;
}

const END = '\n\n';
const DATA = 'data:';
/** A longer event is an image or audio; the one with the usage may be, too. */
const PARSED_CHARS_MAX = 64 * 1024;
const USAGE = '"usage"';
const ERROR = '"error"';
/** The event that has a finished image. */
const IMAGE_DONE = '"image_generation.completed"';
const TEXT_DELTA = 'transcript.text.delta';

export function createRelayedEvents(): RelayedEvents {
  const splitter = createEventSplitter();
  const count = createTokenCount();
  let usage: TokenUsage | undefined;
  let images: number | undefined;
  let audioSeconds: number | undefined;
  let mediaTokens: MediaTokens | undefined;
  let error: string | undefined;

  function readEvent(event: string): void {
    if (event.includes(IMAGE_DONE)) images = (images ?? 0) + 1;
    if (event.length > PARSED_CHARS_MAX && !event.includes(USAGE) && !event.includes(ERROR)) return;
    const lines = event.split('\n');
    const data = lines
      .filter((line) => line.startsWith(DATA))
      .map((line) => line.slice(DATA.length))
      .join('\n');
    const value = tryParseJson(data);
    error = errorOfNamed(lines, data) ?? errorOf(value);
    usage = reportedUsage(value) ?? usage;
    audioSeconds = reportedSeconds(value) ?? audioSeconds;
    mediaTokens = readMediaTokens(property(value, 'usage')) ?? mediaTokens;
    const delta = property(value, 'delta');
    if (property(value, 'type') === TEXT_DELTA && typeof delta === 'string') count.add(delta);
  }

  function completeWith(chunk: Buffer | undefined): Buffer {
    if (chunk === undefined) return splitter.rest();
    try {
      return splitter.push(chunk);
    } catch {
      // An event that is too large to be read still passes.
      return splitter.rest().subarray(0, -END.length);
    }
  }

  return {
    pass(chunk) {
      const events = completeWith(chunk);
      for (let at = 0; at < events.length;) {
        const end = events.indexOf(END, at);
        const next = end === -1 ? events.length : end + END.length;
        readEvent(events.toString('utf8', at, next));
        if (error !== undefined) return events.subarray(0, at);
        at = next;
      }
      return events;
    },
    get error() {
      return error;
    },
    get usage() {
      return usage;
    },
    get reported() {
      // Of a stream that failed, only finished images count.
      return { images: error === undefined ? images : (images ?? 0), audioSeconds, mediaTokens };
    },
    get tokens() {
      return count.tokens;
    },
  };
}
