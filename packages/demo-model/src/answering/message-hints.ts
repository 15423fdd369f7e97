import type { ValueHints } from '../json-schema/schema-value.ts';
import { typesOf } from '../json-schema/plain-schema.ts';
import { asList, asObject, type JsonObject } from '../wire/json.ts';
import { wordsOf } from './words.ts';

/** The parts of a message that can be arguments, each in the order of the message. */
interface Parts {
  readonly quoted: readonly string[];
  /** Between backticks, or after `run` and `execute`. */
  readonly code: readonly string[];
  readonly numbers: readonly number[];
  readonly places: readonly string[];
  readonly paths: readonly string[];
  readonly links: readonly string[];
  readonly others: readonly string[];
}

const NAMES: readonly (readonly [RegExp, readonly (keyof Parts)[]])[] = [
  [/^(?:cmd|command|commands|script|code|source)$/, ['code', 'quoted']],
  [/^(?:path|file|filename|directory|dir|folder)$/, ['paths', 'code', 'quoted']],
  [/^(?:url|uri|link|href|website)$/, ['links']],
  [
    /^(?:city|location|place|address|country|region|town|where|destination|area)$/,
    ['places', 'quoted'],
  ],
];

/** Enough for a question. */
const READ_CHARS_MAX = 4 * 1024;
const CHOICES_MAX = 1_000;

/** Finds values for the arguments of functions in what the user wrote; a value is given again only if there is no other. */
export function createMessageHints(message: string): ValueHints {
  const text = message.slice(0, READ_CHARS_MAX);
  const words = new Set(wordsOf(text));
  const lower = text.toLowerCase();
  const parts = partsOf(text);
  const taken = new Set<unknown>();
  const left = (values: readonly unknown[]): readonly unknown[] => {
    const others = values.filter((value) => !taken.has(value));
    return others.length === 0 ? values : others;
  };

  function named(name: string, schema: JsonObject): readonly unknown[] {
    const written = writtenValue(text, lower, name);
    const values = asList(schema.enum)
      .slice(0, CHOICES_MAX)
      .filter((value) => typeof value === 'string' && words.has(value.toLowerCase()));
    if (written === undefined) return values;
    return [...(isNumeric(schema) ? [Number(written)] : [written, written === 'true']), ...values];
  }

  return {
    find(name, schema) {
      if (name === '') return [];
      return [...named(name, schema), ...left(fitting(name, schema, parts))];
    },
    isNamed: (name, schema) => name !== '' && named(name, schema).length > 0,
    onTaken: (value) => void taken.add(value),
  };
}

function fitting(name: string, schema: JsonObject, parts: Parts): readonly unknown[] {
  const types = typesOf(schema.type);
  if (types.includes('array')) return fittingLists(name, schema, parts);
  if (isNumeric(schema)) return parts.numbers;
  if (schema.type !== undefined && !types.includes('string')) return [];
  if (schema.format !== undefined) return parts.others;
  return fittingTexts(name, parts);
}

function fittingTexts(name: string, parts: Parts): readonly string[] {
  const words = wordsOf(name);
  const kinds = NAMES.find(([shape]) => words.some((word) => shape.test(word)))?.[1];
  return (kinds ?? (['quoted', 'code'] as const)).flatMap((kind) => parts[kind].map(String));
}

/** A list of texts or numbers gets all of them; a command as a list is run by a shell, as agents do it. */
function fittingLists(name: string, schema: JsonObject, parts: Parts): readonly unknown[] {
  const items = asObject(schema.items);
  if (isNumeric(items)) return parts.numbers.length === 0 ? [] : [parts.numbers];
  const texts = fittingTexts(name, parts);
  if (texts[0] === undefined) return [];
  const isCommand = wordsOf(name).some((word) => word === 'command' || word === 'cmd');
  return isCommand ? [['bash', '-lc', texts[0]]] : [[...new Set(texts)]];
}

function isNumeric(schema: JsonObject): boolean {
  const types = typesOf(schema.type);
  return types.includes('number') || types.includes('integer');
}

const QUOTED =
  /"([^"\n]{1,500})"|\u201C([^\u201D\n]{1,500})\u201D|(?<![\p{L}\p{N}])'([^'\n]{1,500})'(?![\p{L}\p{N}])/gu;
const CODE = /```(?:\w*\n)?([^`]{1,2000})```|`([^`\n]{1,2000})`/g;
const RUN =
  /^(?:please )?(?:run|execute) (?!(?:the|a|an|all|my|your|this|that|it|some)\b)([^\n`"]{1,200})$/i;
const NUMBER = /(?<![\p{L}\p{N}_.-])-?\d{1,15}(?:\.\d{1,15})?(?![\p{L}\p{N}_]|\.\d)/gu;
const PLACE =
  /\b(?:in|at|for|near|from|to|of) (\p{Lu}[\p{L}'\u2019-]*(?: \p{Lu}[\p{L}'\u2019-]*)*)/gu;
const PATH = /(?<![^\s"'`(])(?:[\w@~.-]*\/[\w@./-]*[\w-]|[\w-]+\.[a-z]{1,5}(?![\w.]))/g;
const LINK = /https?:\/\/[^\s"'`<>)]{1,2000}/g;

function partsOf(text: string): Parts {
  const links = all(text, LINK);
  const code = all(text, CODE).map((part) => part.trim());
  const run = RUN.exec(text.trim())?.[1]?.replace(/[.!?]$/, '');
  return {
    quoted: all(text, QUOTED),
    code: code.length === 0 && run !== undefined ? [run] : code,
    numbers: all(text, NUMBER).map(Number),
    places: all(text, PLACE),
    paths: all(text.replaceAll(LINK, ' '), PATH),
    links,
    others: [...links, ...text.split(/[\s,;()"'`]+/).slice(0, 200)],
  };
}

const all = (text: string, shape: RegExp): readonly string[] =>
  [...text.matchAll(shape)].map(
    (found) => found.slice(1).find((part) => part !== undefined) ?? found[0],
  );

const VALUE =
  /^["'`]?\s*(?:[:=]|is\b)\s*(?:"([^"\n]{0,500})"|'([^'\n]{0,500})'|`([^`\n]{0,500})`|([^\s,;"'`{[]+))/;

/** The value after the name of a property and `:`, `=` or `is`, as in `unit: kelvin`. */
function writtenValue(text: string, lower: string, name: string): string | undefined {
  for (const spelling of new Set([name.toLowerCase(), wordsOf(name).join(' ')])) {
    const at = lower.indexOf(spelling);
    const isWord = at !== -1 && !/[\p{L}\p{N}_]$/u.test(lower.slice(0, at));
    const found = isWord
      ? VALUE.exec(text.slice(at + spelling.length, at + spelling.length + 1_000))
      : null;
    const value = found?.slice(1).find((part) => part !== undefined);
    if (value !== undefined) return found?.[4] === undefined ? value : value.replace(/[.!?]$/, '');
  }
  return undefined;
}
