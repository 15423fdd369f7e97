import { errorOf, isUsageOnly, type StreamObserver } from './stream-observer.ts';

const DATA = Buffer.from('data: ');
const CONTENT = Buffer.from('"content":"');
const USAGE = Buffer.from('"usage":');
const USAGE_NULL = Buffer.from('"usage":null');
const ERROR = Buffer.from('"error"');
const TOOL_CALLS = Buffer.from('"tool_calls"');
const FINISHED = Buffer.from('"finish_reason":"');
const NOT_FINISHED = Buffer.from('"finish_reason":null');
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const END = Buffer.from('\n\n');

interface EventReaderOptions {
  readonly observer: StreamObserver;
  /** Whether the client asked to see the chunk with the usage. */
  readonly passesUsage: boolean;
  /** Told of events that are no JSON; they are not passed on. */
  readonly onGarbage: (event: string) => void;
}

/** What became of some whole events. */
export interface ReadEvents {
  /** What the client is to see. */
  readonly passed: Buffer;
  /** The upstream's end mark was among them. */
  readonly isDone: boolean;
  /** The upstream's own error, if it sent one. */
  readonly error: string | undefined;
}

/**
 * Reads server-sent events on their way through: passes their bytes on untouched and parses only those that can carry
 * usage, an error or the end. Of the others only the text is picked out, in case the stream has to be estimated.
 */
export function createEventReader({ observer, passesUsage, onGarbage }: EventReaderOptions) {
  /** True when the event is to be passed on. */
  function readParsed(data: string): { readonly passes: boolean; readonly error?: string } {
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      onGarbage(data);
      return { passes: false };
    }
    const error = errorOf(chunk);
    if (error !== undefined) return { passes: false, error };
    observer.observe(chunk);
    return { passes: passesUsage || !isUsageOnly(chunk) };
  }

  return (events: Buffer): ReadEvents => {
    const passed: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < events.length;) {
      const end = events.indexOf(END, at);
      const next = end === -1 ? events.length : end + END.length;
      const event = events.subarray(at, end === -1 ? events.length : end);
      if (isPlain(event)) {
        pickText(event, observer);
        at = next;
        continue;
      }
      const verdict = readOdd(event, readParsed);
      if (verdict.isDone || verdict.error !== undefined) {
        passed.push(events.subarray(from, at));
        return { passed: join(passed), isDone: verdict.isDone, error: verdict.error };
      }
      if (!verdict.passes) {
        passed.push(events.subarray(from, at));
        from = next;
      }
      at = next;
    }
    passed.push(events.subarray(from));
    return { passed: join(passed), isDone: false, error: undefined };
  };
}

interface Verdict {
  readonly passes: boolean;
  readonly isDone: boolean;
  readonly error: string | undefined;
}

/** An event that has to be looked at: the end mark, a comment, an error, usage, or anything unusual. */
function readOdd(
  event: Buffer,
  readParsed: (data: string) => { readonly passes: boolean; readonly error?: string },
): Verdict {
  const lines = event.toString('utf8').split('\n');
  const data = lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
  // A comment keeps the connection alive; it passes. So does an event that says nothing.
  if (data === '')
    return { passes: lines.every((line) => line.startsWith(':')), isDone: false, error: undefined };
  if (data.trim() === '[DONE]') return { passes: false, isDone: true, error: undefined };
  const { passes, error } = readParsed(data);
  return { passes, isDone: false, error };
}

/** An ordinary piece of an answer: nothing in it but text that need not be understood. */
function isPlain(event: Buffer): boolean {
  const start = DATA.length;
  if (
    event[start] !== BRACE_OPEN ||
    event.at(-1) !== BRACE_CLOSE ||
    !event.subarray(0, start).equals(DATA)
  ) {
    return false;
  }
  if (event.includes(ERROR) || event.includes(TOOL_CALLS) || hasUsage(event)) return false;
  // One with a finish, or with the field written in some other way, is worth a parse: there is one in a stream.
  return event.includes(NOT_FINISHED) && !event.includes(FINISHED);
}

function hasUsage(event: Buffer): boolean {
  const at = event.indexOf(USAGE);
  return at !== -1 && !event.subarray(at, at + USAGE_NULL.length).equals(USAGE_NULL);
}

/** Takes the text of a plain event without parsing the event. */
function pickText(event: Buffer, observer: StreamObserver): void {
  const start = event.indexOf(CONTENT);
  if (start === -1) return;
  const from = start + CONTENT.length - 1;
  let at = from + 1;
  while (at < event.length && event[at] !== QUOTE) at += event[at] === BACKSLASH ? 2 : 1;
  const source = event.toString('utf8', from, at + 1);
  observer.addText(source.includes('\\') ? unescaped(source) : source.slice(1, -1));
}

function unescaped(source: string): string {
  try {
    return String(JSON.parse(source));
  } catch {
    return source.slice(1, -1);
  }
}

function join(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}
