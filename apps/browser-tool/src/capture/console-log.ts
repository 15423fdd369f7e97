import type { LogContext } from './log-context.ts';
import { clipText } from './clip-text.ts';
import { textBytes, type StoredSize } from './byte-budget.ts';
import { createRing, selectEntries } from './ring.ts';

const CONSOLE_ENTRIES_MAX = 1_000;
const TEXT_CHARS_MAX = 10_000;
// The URL of a `data:` page contains the whole page.
const URL_CHARS_MAX = 2_000;

/** From the most to the least severe. */
export const CONSOLE_LEVELS = ['error', 'warning', 'info', 'debug'] as const;
export type ConsoleLevel = (typeof CONSOLE_LEVELS)[number];
export const CONSOLE_SOURCES = ['console', 'exception', 'network', 'worker', 'security'] as const;
export type ConsoleSource = (typeof CONSOLE_SOURCES)[number];

/** A message that a page, or the browser on behalf of the page, wrote to the console. */
export interface ConsoleMessage {
  readonly level: ConsoleLevel;
  readonly text: string;
  readonly source: ConsoleSource;
  readonly url: string;
  /** Starts at 1; null if unknown. */
  readonly line: number | null;
  readonly column: number | null;
  readonly stack?: string;
  /** An unhandled rejection of a promise. */
  readonly isRejection?: boolean;
}

/** A captured message as callers see it. */
export interface ConsoleEntry extends Omit<ConsoleMessage, 'isRejection'> {
  readonly seq: number;
  readonly timestamp: string;
  /** How often the same message was written in a row. */
  readonly count: number;
}

export interface ConsoleQuery {
  /** At least this severe. */
  readonly level?: ConsoleLevel | undefined;
  readonly source?: ConsoleSource | undefined;
  readonly since?: number | undefined;
  readonly limit: number;
  /** Includes what earlier pages wrote. */
  readonly all: boolean;
}

export interface ConsoleLog {
  add(message: ConsoleMessage): void;
  /** The matching entries, oldest first. */
  query(query: ConsoleQuery): {
    readonly entries: readonly ConsoleEntry[];
    readonly next: number;
    readonly dropped: number;
  };
  /** Uncaught errors and unhandled rejections. */
  failures(): {
    readonly errors: readonly ConsoleEntry[];
    readonly rejections: readonly ConsoleEntry[];
  };
  /** How many errors and warnings the current page wrote. */
  counts(): { readonly errors: number; readonly warnings: number };
  startPage(): void;
  clear(): number;
}

interface StoredEntry {
  entry: ConsoleEntry;
  readonly isRejection: boolean;
  readonly size: StoredSize;
}

/** An empty console log. */
export function createConsoleLog({ next, clock, events, budget }: LogContext): ConsoleLog {
  const ring = createRing<StoredEntry>(CONSOLE_ENTRIES_MAX, ({ size }) => size.release());
  let pageStart = 0;
  let errors = 0;
  let warnings = 0;

  function keep({ isRejection = false, ...given }: ConsoleMessage): ConsoleEntry {
    const seq = next();
    const timestamp = new Date(clock.now()).toISOString();
    const message = clipped(given);
    const last = ring.last();
    if (last !== undefined && last.entry.seq > pageStart && isSame(last.entry, message)) {
      last.entry = { ...last.entry, seq, timestamp, count: last.entry.count + 1 };
      return last.entry;
    }
    const entry: ConsoleEntry = { seq, timestamp, count: 1, ...message };
    const bytes = textBytes(message.text, message.url, message.stack);
    ring.add({ entry, isRejection, size: budget.store(bytes, () => ring.dropOldest()) });
    return entry;
  }

  return {
    add(message) {
      if (message.level === 'error') errors += 1;
      if (message.level === 'warning') warnings += 1;
      events.publish('console', keep(message));
    },
    query({ level = 'debug', source, since, limit, all }) {
      const levels = CONSOLE_LEVELS.slice(0, CONSOLE_LEVELS.indexOf(level) + 1);
      const from = Math.max(since ?? 0, all ? 0 : pageStart);
      const found = ring
        .entries()
        .map(({ entry }) => entry)
        .filter((entry) => entry.seq > from && levels.includes(entry.level))
        .filter((entry) => source === undefined || entry.source === source);
      const { page: entries, next: following } = selectEntries(found, since, limit);
      return { entries, next: following, dropped: ring.dropped };
    },
    failures() {
      const thrown = ring.entries().filter(({ entry }) => entry.source === 'exception');
      return {
        errors: thrown.filter(({ isRejection }) => !isRejection).map(({ entry }) => entry),
        rejections: thrown.filter(({ isRejection }) => isRejection).map(({ entry }) => entry),
      };
    },
    counts: () => ({ errors, warnings }),
    startPage() {
      pageStart = next();
      errors = 0;
      warnings = 0;
    },
    clear() {
      errors = 0;
      warnings = 0;
      return ring.clear();
    },
  };
}

type StoredMessage = Omit<ConsoleMessage, 'isRejection'>;

function clipped({ text, url, stack, ...message }: StoredMessage): StoredMessage {
  return {
    ...message,
    text: clipText(text, TEXT_CHARS_MAX),
    url: clipText(url, URL_CHARS_MAX),
    ...(stack === undefined ? {} : { stack: clipText(stack, TEXT_CHARS_MAX) }),
  };
}

function isSame(entry: ConsoleEntry, message: StoredMessage): boolean {
  return (
    entry.text === message.text &&
    entry.level === message.level &&
    entry.source === message.source &&
    entry.url === message.url &&
    entry.line === message.line
  );
}
