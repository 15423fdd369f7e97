import { z } from 'zod';
import {
  CONSOLE_LEVELS,
  CONSOLE_SOURCES,
  type ConsoleEntry,
  type ConsoleLevel,
} from '../capture/console-log.ts';
import { clipText } from '../capture/clip-text.ts';
import { indentLines } from '../one-line.ts';
import { command, READING } from './command.ts';

const LIMIT_DEFAULT = 200;
const TOOL_LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;
/** What a model should read at once; programs get everything unless they ask for less. */
const TOOL_CHARS_MAX = 20_000;
const CHARS_MAX = 50_000_000;

const limitField = z.int().min(1).max(LIMIT_MAX);
const level = z.enum(CONSOLE_LEVELS);
/** One level or several, of which the least severe counts. */
const levels = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(level))
  .transform((named): ConsoleLevel => leastSevere(named));

function leastSevere(named: readonly ConsoleLevel[]): ConsoleLevel {
  return CONSOLE_LEVELS.findLast((each) => named.includes(each)) ?? 'debug';
}

export const consoleMessages = command({
  name: 'console',
  http: { method: 'GET', path: '/console' },
  aliases: { minLevel: 'level' },
  params: z.object({
    level: levels.optional(),
    all: z.boolean().default(false),
    limit: limitField.default(LIMIT_DEFAULT),
    since: z.int().min(0).optional(),
    source: z.enum(CONSOLE_SOURCES).optional(),
    maxChars: z.int().min(100).max(CHARS_MAX).optional(),
    clear: z.boolean().default(false),
  }),
  tool: {
    name: 'browser_console_messages',
    title: 'Console',
    description: 'Console output of the page',
    fields: ['level', 'all', 'limit', 'clear'],
    listedDefaults: ['level', 'all', 'limit', 'clear'],
    overrides: { level: level.default('info'), limit: limitField.default(TOOL_LIMIT_DEFAULT) },
    fixed: { maxChars: TOOL_CHARS_MAX },
    annotations: { ...READING, openWorldHint: false },
    text: ({ entries, omitted = 0 }) =>
      consoleText(entries as readonly ConsoleEntry[], Number(omitted)),
  },
  async run({ clear, maxChars, ...query }, { captures }) {
    const { entries: found, next, dropped } = captures.console.query(query);
    if (clear) captures.console.clear();
    const entries = maxChars === undefined ? found : newestWithin(found, maxChars);
    const omitted = found.length - entries.length;
    return { entries, next, dropped, ...(omitted === 0 ? {} : { omitted }) };
  },
});

export const clearConsole = command({
  name: 'clear-console',
  http: { method: 'DELETE', path: '/console' },
  params: z.object({}),
  run: async (_params, { captures }) => ({ cleared: captures.console.clear() }),
});

export const pageErrors = command({
  name: 'errors',
  http: { method: 'GET', path: '/errors' },
  params: z.object({}),
  async run(_params, { captures }) {
    const { errors, rejections } = captures.console.failures();
    return { errors, unhandled_rejections: rejections };
  },
});

/** The newest entries whose JSON fits, with long texts cut so that one message does not hide all others. */
function newestWithin(entries: readonly ConsoleEntry[], maxChars: number): readonly ConsoleEntry[] {
  const textMax = Math.ceil(maxChars / 10);
  const kept: ConsoleEntry[] = [];
  let chars = 0;
  for (const { text, stack, ...entry } of entries.toReversed()) {
    const shown = {
      ...entry,
      text: clipText(text, textMax),
      ...(stack === undefined ? {} : { stack: clipText(stack, textMax) }),
    };
    chars += JSON.stringify(shown).length;
    if (chars > maxChars && kept.length > 0) break;
    kept.push(shown);
  }
  return kept.toReversed();
}

function consoleText(entries: readonly ConsoleEntry[], omitted: number): string {
  if (entries.length === 0) return 'No console messages';
  const lines = entries.map(({ level: severity, text, url, line, count }) => {
    const times = count > 1 ? ` (${count} times)` : '';
    const place = `${url}${line === null ? '' : `:${line}`}`;
    return `[${severity.toUpperCase()}] ${indentLines(text)}${times} @ ${place}`;
  });
  const more = `… ${omitted} earlier messages are left out; pass a level such as "error" for fewer`;
  return [...(omitted === 0 ? [] : [more]), ...lines].join('\n');
}
