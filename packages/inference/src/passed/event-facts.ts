import { createTokenCount } from '@model-gateway/billing';
import type { TokenUsage } from '@model-gateway/contracts';
import { tryParseJson } from '@model-gateway/kernel';
import { property } from '../stream/chunk-fields.ts';
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

const END = '\n\n';
const DATA = 'data:';
/** A longer event is an image or audio; the one with the usage may be, too. */
const PARSED_CHARS_MAX = 64 * 1024;
const USAGE = '"usage"';
/** The event that has a finished image. */
const IMAGE_DONE = '"image_generation.completed"';
const TEXT_DELTA = 'transcript.text.delta';

export function createEventFacts(): EventFacts {
  const splitter = createEventSplitter();
  const count = createTokenCount();
  let usage: TokenUsage | undefined;
  let images: number | undefined;
  let audioSeconds: number | undefined;
  let isReadable = true;

  function readEvent(event: string): void {
    if (event.includes(IMAGE_DONE)) images = (images ?? 0) + 1;
    if (event.length > PARSED_CHARS_MAX && !event.includes(USAGE)) return;
    const data = event
      .split('\n')
      .filter((line) => line.startsWith(DATA))
      .map((line) => line.slice(DATA.length))
      .join('\n');
    const value = tryParseJson(data);
    usage = reportedUsage(value) ?? usage;
    audioSeconds = reportedSeconds(value) ?? audioSeconds;
    const delta = property(value, 'delta');
    if (property(value, 'type') === TEXT_DELTA && typeof delta === 'string') count.add(delta);
  }

  return {
    add(chunk) {
      if (!isReadable) return;
      try {
        for (const event of splitter.push(chunk).toString('utf8').split(END)) readEvent(event);
      } catch {
        // An event that is too large to be read still passes.
        isReadable = false;
      }
    },
    get usage() {
      return usage;
    },
    get reported() {
      return { images, audioSeconds };
    },
    get tokens() {
      return count.tokens;
    },
  };
}
