import { tryParseJson } from '../json/try-parse.ts';

const LEVEL_WIDTH = 5;

/** A line of the log as a person reads it: the time, the level, the message, then the fields. */
export function terminalLine(line: string): string {
  const { level, time, app: _app, msg, ...fields } = recordOf(line);
  if (typeof level !== 'string' || typeof time !== 'string') return line;
  const shown = Object.entries(fields).map(([name, value]) => ` ${name}=${textOf(value)}`);
  return `${time.slice(11, 19)} ${level.padEnd(LEVEL_WIDTH)} ${String(msg)}${shown.join('')}\n`;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);

function recordOf(line: string): Readonly<Record<string, unknown>> {
  const value = tryParseJson(line);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
