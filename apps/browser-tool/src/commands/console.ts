import { z } from 'zod';
import {
  CONSOLE_LEVELS,
  CONSOLE_SOURCES,
  type ConsoleEntry,
  type ConsoleLevel,
} from '../capture/console-log.ts';
import { command, READING } from './command.ts';

const LIMIT_DEFAULT = 200;
const TOOL_LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;

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
    clear: z.boolean().default(false),
  }),
  tool: {
    name: 'browser_console_messages',
    title: 'Console',
    description: 'Console output of the page',
    fields: ['level', 'all', 'limit', 'clear'],
    listedDefaults: ['level', 'all', 'limit', 'clear'],
    overrides: { level: level.default('info'), limit: limitField.default(TOOL_LIMIT_DEFAULT) },
    annotations: { ...READING, openWorldHint: false },
    text: ({ entries }) => consoleText(entries as readonly ConsoleEntry[]),
  },
  async run({ clear, ...query }, { captures }) {
    const { entries, next, dropped } = captures.console.query(query);
    if (clear) captures.console.clear();
    return { entries, next, dropped };
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

function consoleText(entries: readonly ConsoleEntry[]): string {
  if (entries.length === 0) return 'No console messages';
  return entries
    .map(({ level: severity, text, url, line, count }) => {
      const times = count > 1 ? ` (${count} times)` : '';
      return `[${severity.toUpperCase()}] ${text}${times} @ ${url}${line === null ? '' : `:${line}`}`;
    })
    .join('\n');
}
