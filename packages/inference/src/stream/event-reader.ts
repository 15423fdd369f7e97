import type { AnswerPart } from '@model-gateway/contracts';
import { chatParts, createCallRepair, type ChunkHead } from '@model-gateway/dialects';
import { hasTooManyNumbers, isCheapJson, tryParseExactJson, type Log } from '@model-gateway/kernel';
import { choicesOf, errorOf, errorOfNamed, isUsageOnly } from './chunk-fields.ts';
import type { StreamObserver } from './stream-observer.ts';
import { findMember, withoutMember, type MemberRange } from './without-member.ts';

const DATA = 'data: {';
const HEAD = ['"object":"chat.completion.chunk"', '"id":"', '"model":"', '"created":', '"index":'];
const ANY_CONTENT = '"content":';
const CONTENT = '"content":"';
const USAGE = '"usage":';
const USAGE_FIELD = 'usage';
const NULL = 'null';
const ERROR = '"error"';
const DELTA = '"delta":';
// Text beside the content counts in an estimate as well; an event with one of these is parsed, unless it is null.
const OTHER_TEXTS = [
  '"reasoning_content":',
  '"reasoning":',
  '"refusal":',
  '"tool_calls":',
  '"function_call":',
  '"audio":',
];
const FINISHED = '"finish_reason":"';
const NOT_FINISHED = '"finish_reason":null';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_CHOICE = '"index":0';
const REASONING_DETAILS = '"reasoning_details":';
const END = '\n\n';
/** The end of the text, an escape, or another line of the event. */
const NOT_IN_FRAME = /["\\\n]/;
/** A stream with more events that are no JSON is ended. */
const NOT_JSON_MAX = 100;
/** After so many frames the upstream has no common one, and the search for it ends. */
const FRAMES_MAX = 4;

/** How a stream is forwarded. */
export interface EventReaderOptions {
  readonly observer: StreamObserver;
  /** Whether the client requested the usage; other clients get chunks without the field. */
  readonly passesUsage: boolean;
  /** Defaults for fields that an upstream omitted; without it, chunks stay as they are. */
  readonly head?: ChunkHead;
  /** Whether every event is parsed: needed if there are several choices. */
  readonly parsesAll: boolean;
  /**
   * Takes the answer for a client of another API: a part for each chunk that was parsed, and for the text of those that have
   * nothing else; then only the first choice is read so.
   */
  readonly onPart?: ((part: AnswerPart) => void) | undefined;
  /** Takes comments before the first content; without it, they wait for that. */
  readonly onSign?: OnSign | undefined;
  readonly log: Log;
}

/** Called with signs of life of an upstream, which are comments; true when the client got them. */
export type OnSign = (comments: Buffer) => boolean;

/** The result of reading some events. */
export interface ReadEvents {
  /** The bytes for the client. */
  readonly passed: Buffer;
  /** The upstream's end mark was among them. */
  readonly isDone: boolean;
  /** The upstream's error, if it sent one. */
  readonly error: string | undefined;
}

/**
 * Reads server-sent events while they are forwarded: passes their bytes on unchanged and parses only those that can have
 * usage, an error or the end. From the others it extracts only the text, to estimate the usage if necessary.
 */
export interface EventReader {
  /** Reads some whole events. */
  read(events: Buffer): ReadEvents;
}

export function createEventReader(options: EventReaderOptions): EventReader {
  const { observer, passesUsage, head, parsesAll, onPart, log } = options;
  const partOf = onPart && chatParts();
  const repaired = createCallRepair();
  // What surrounds the text of an earlier event. Most upstreams write the same around every token.
  let before = '';
  let after = '';
  let framesSet = 0;
  /** Where the usage, which is null, stands in `before` or in `after`. */
  let usageBefore: MemberRange | undefined;
  let usageAfter: MemberRange | undefined;
  let notJson = 0;

  /** The text of an event that differs from an earlier one in nothing else; undefined for other events. */
  function textInFrame(event: string): string | undefined {
    const end = event.length - after.length;
    if (framesSet === 0 || end < before.length) return undefined;
    // Slices and compares: `startsWith` and `endsWith` take three times as long.
    if (event.slice(0, before.length) !== before || event.slice(end) !== after) return undefined;
    const text = event.slice(before.length, end);
    return NOT_IN_FRAME.test(text) ? undefined : text;
  }

  const isSimple = (event: string): boolean =>
    !parsesAll &&
    isPlain(event) &&
    // For other APIs the first one says what the upstream calls the model.
    (onPart === undefined || (observer.model !== undefined && isTextOnly(event)));

  function addText(text: string): void {
    observer.addText(text);
    if (text !== '') onPart?.({ events: [{ type: 'text', text }] });
  }

  function readParsed(data: string): ParsedEvent {
    if (!isCheapJson(data)) return { passes: false, error: 'an event has too many values' };
    const chunk = tryParseExactJson(data);
    if (chunk === undefined) {
      if (hasTooManyNumbers(data)) return { passes: false, error: 'an event has too many values' };
      notJson += 1;
      if (notJson > NOT_JSON_MAX) return { passes: false, error: 'too many events are not JSON' };
      if (notJson === 1) log.warn({}, 'an upstream sent an event that is not JSON; it was dropped');
      return { passes: false };
    }
    const error = errorOf(chunk);
    if (error !== undefined) return { passes: false, error };
    if (!isFields(chunk)) return { passes: true };
    const whole = repaired(chunk);
    observer.observe(whole);
    if (partOf !== undefined) onPart?.(partOf(whole));
    if (!passesUsage && isUsageOnly(whole)) return { passes: false };
    const complete = (head && completed(whole, head)) ?? whole;
    const json = complete === chunk ? data : JSON.stringify(complete);
    return { passes: true, json: passesUsage ? json : withoutMember(json, USAGE_FIELD) };
  }

  /** Where the usage stands in a plain event that the client gets without it. */
  function hiddenUsage(event: string, isInFrame: boolean): MemberRange | undefined {
    if (passesUsage) return undefined;
    if (!isInFrame) return event.includes(USAGE) ? findMember(event, USAGE_FIELD) : undefined;
    if (usageAfter === undefined) return usageBefore;
    const start = event.length - after.length;
    return [start + usageAfter[0], start + usageAfter[1]];
  }

  function read(events: Buffer): ReadEvents {
    const passed: Buffer[] = [];
    // One character per byte: searching a string is much faster than searching a buffer, and positions are the same.
    const text = events.toString('latin1');
    let from = 0;
    for (let at = 0; at < text.length;) {
      const found = text.indexOf(END, at);
      const end = found === -1 ? text.length : found;
      const next = Math.min(end + END.length, text.length);
      if (end === at) {
        if (at > from) passed.push(events.subarray(from, at));
        from = next;
        at = next;
        continue;
      }
      const event = text.slice(at, end);
      const known = textInFrame(event);
      if (known !== undefined || isSimple(event)) {
        const hidden = hiddenUsage(event, known !== undefined);
        if (known === undefined) pickText(event, hidden);
        else addText(utf8Of(known));
        if (hidden !== undefined) {
          passed.push(events.subarray(from, at + hidden[0]));
          from = at + hidden[1];
        }
        at = next;
        continue;
      }
      const outcome = readUnusual(events.toString('utf8', at, end), readParsed);
      if (outcome.isDone || outcome.error !== undefined) {
        passed.push(events.subarray(from, at));
        return { passed: join(passed), isDone: outcome.isDone, error: outcome.error };
      }
      if (!outcome.passes || outcome.replacement !== undefined) {
        passed.push(events.subarray(from, at));
        if (outcome.passes && outcome.replacement !== undefined) passed.push(outcome.replacement);
        from = next;
      }
      at = next;
    }
    if (from === 0) return { passed: events, isDone: false, error: undefined };
    passed.push(events.subarray(from));
    return { passed: join(passed), isDone: false, error: undefined };
  }

  /** Extracts the text of a plain event without parsing the event. */
  function pickText(event: string, usage: MemberRange | undefined): void {
    const start = event.indexOf(CONTENT);
    if (start === -1) return;
    const from = start + CONTENT.length;
    const end = endOfText(event, from);
    const text = event.slice(from, end);
    addText(text.includes('\\') ? unescaped(utf8Of(text)) : utf8Of(text));
    if (framesSet >= FRAMES_MAX) return;
    const [beginning, rest] = [event.slice(0, from), event.slice(end)];
    // What makes an event plain must not come from its text.
    if (!isSimple(beginning + rest)) return;
    [before, after] = [beginning, rest];
    const isBehind = usage !== undefined && usage[0] >= end;
    usageBefore = isBehind ? undefined : usage;
    usageAfter = isBehind ? [usage[0] - end, usage[1] - end] : undefined;
    framesSet += 1;
  }

  return { read };
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** The result of parsing one event. */
interface ParsedEvent {
  readonly passes: boolean;
  readonly error?: string;
  /** What is forwarded. */
  readonly json?: string;
}

interface EventOutcome {
  readonly replacement?: Buffer;
  readonly passes: boolean;
  readonly isDone: boolean;
  readonly error: string | undefined;
}

/** An event that must be parsed: the end mark, a comment, an error, usage, or anything unusual. */
function readUnusual(event: string, readParsed: (data: string) => ParsedEvent): EventOutcome {
  const lines = event.split('\n');
  const data = lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
  const named = errorOfNamed(lines, data);
  if (named !== undefined) return { passes: false, isDone: false, error: named };
  // A comment keeps the connection alive; it passes. So does an empty event.
  if (data === '')
    return { passes: lines.every((line) => line.startsWith(':')), isDone: false, error: undefined };
  if (data.trim() === '[DONE]') return { passes: false, isDone: true, error: undefined };
  const { passes, error, json = data } = readParsed(data);
  const outcome = { passes, isDone: false, error };
  // One line of data per chunk, even if the upstream sent several: a line break in JSON is white space.
  const line = json.replaceAll('\n', '');
  return passes && line !== data ? { ...outcome, replacement: encode(line) } : outcome;
}

const encode = (json: string): Buffer => Buffer.from(`data: ${json}\n\n`);

/** The chunk with the fields that its upstream omitted; undefined if there are none. */
function completed(chunk: object, head: ChunkHead): object | undefined {
  const choices = choicesOf(chunk);
  const isWhole = Object.keys(head).every((name) => name in chunk) && choices.every(isWholeChoice);
  if (isWhole) return undefined;
  const completeChoices = choices.length === 0 ? {} : { choices: choices.map(completedChoice) };
  return { ...head, ...chunk, ...completeChoices };
}

const isWholeChoice = (choice: unknown): boolean =>
  typeof choice === 'object' && choice !== null && 'index' in choice && 'finish_reason' in choice;

const completedChoice = (choice: unknown, index: number): unknown =>
  typeof choice === 'object' && choice !== null
    ? { index, finish_reason: null, ...choice }
    : choice;

/** An ordinary chunk: one choice with content, which need not be parsed. */
function isPlain(event: string): boolean {
  if (!event.startsWith(DATA) || !event.endsWith('}') || event.includes('\n')) return false;
  for (const field of HEAD) if (!event.includes(field)) return false;
  if (event.includes(ERROR) || isSet(event, USAGE)) return false;
  for (const field of OTHER_TEXTS) if (isSet(event, field)) return false;
  if (event.indexOf(DELTA) !== event.lastIndexOf(DELTA)) return false;
  // Content in parts.
  if (isSet(event, ANY_CONTENT) && event.indexOf(ANY_CONTENT) !== event.indexOf(CONTENT))
    return false;
  // An event with a finish reason, or with an unusual form of the field, is parsed: there is one per stream.
  return event.includes(NOT_FINISHED) && !event.includes(FINISHED);
}

/** Whether a plain event has nothing that a reader of its chunk would miss. */
const isTextOnly = (event: string): boolean =>
  event.includes(FIRST_CHOICE) && !isSet(event, REASONING_DETAILS);

/** Whether an event has a field that is not null. */
function isSet(event: string, field: string): boolean {
  const at = event.indexOf(field);
  return at !== -1 && !event.startsWith(NULL, at + field.length);
}

/** The end of the JSON string that begins there. */
function endOfText(event: string, from: number): number {
  let at = from;
  for (let code = event.charCodeAt(at); at < event.length && code !== QUOTE;) {
    at += code === BACKSLASH ? 2 : 1;
    code = event.charCodeAt(at);
  }
  return at;
}

function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function join(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/** Decodes a text that has one character per byte. */
const utf8Of = (text: string): string =>
  BEYOND_ASCII.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
