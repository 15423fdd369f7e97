import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fenced block of the guide. */
export interface Block {
  /** `docs/browser-tool.md:12`. */
  readonly place: string;
  readonly language: string;
  readonly text: string;
  /** What the guide shows as the output of this block. */
  readonly output: Block | undefined;
  readonly isNotRun: boolean;
  readonly isBackground: boolean;
}

/** The guide, as far as its blocks go. */
export interface Guide {
  readonly text: string;
  readonly blocks: readonly Block[];
}

const FENCED = /((?:<!-- [^\n]+ -->\n+)?)```(\w+)( output)?\n(.*?)\n```/gs;
const ANYTHING = '…';

/** Reads a guide whose marks are comments before a block: `not run: why`, or `background` for what goes on running. */
export function readGuide(root: string, path: string): Guide {
  const text = readFileSync(join(root, path), 'utf8');
  const blocks: Block[] = [];
  for (const match of text.matchAll(FENCED)) {
    const [, mark = '', language = '', shown, content = ''] = match;
    const line = text.slice(0, match.index + mark.length).split('\n').length;
    const block = {
      place: `${path}:${line}`,
      language,
      text: content,
      output: undefined,
      isNotRun: mark.startsWith('<!-- not run: '),
      isBackground: mark.startsWith('<!-- background -->'),
    };
    const before = blocks.at(-1);
    if (shown === undefined) blocks.push(block);
    else if (before !== undefined) blocks.splice(-1, 1, { ...before, output: block });
  }
  return { text, blocks };
}

/** The first part of what is shown that was not printed; undefined when all of it was. */
export function missingOutput({ language, text }: Block, printed: string): string | undefined {
  if (language !== 'json') {
    const pattern = new RegExp(patternOf(text), 's');
    return pattern.test(printed) ? undefined : text;
  }
  const wanted: unknown = JSON.parse(text);
  const isThere = printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .some((line) => contains(JSON.parse(line), wanted));
  return isThere ? undefined : text;
}

/** Whether everything that is shown is there, in the order that it has; more is fine. */
function contains(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted === 'string') {
    return typeof actual === 'string' && new RegExp(`^${patternOf(wanted)}$`, 's').test(actual);
  }
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) && wanted.every((item) => actual.some((each) => contains(each, item)))
    );
  }
  if (typeof wanted !== 'object' || wanted === null) return Object.is(actual, wanted);
  return (
    typeof actual === 'object' &&
    actual !== null &&
    Object.entries(wanted).every(([name, value]) => contains(Reflect.get(actual, name), value))
  );
}

const patternOf = (text: string): string =>
  text
    .split(ANYTHING)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
