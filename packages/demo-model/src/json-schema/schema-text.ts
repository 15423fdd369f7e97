import { asNumber, asText, type JsonObject } from '../wire/json.ts';
import { exampleOfFormat } from './formats.ts';
import { textForPattern } from './pattern-text.ts';

const EXAMPLE = 'example';
const TEXT_CHARS_MAX = 64 * 1024;

/** A text that a schema allows; each variant is another one where the schema leaves a choice. */
export function textForSchema(schema: JsonObject, variant: number): string {
  const least = Math.min(asNumber(schema.minLength) ?? 0, TEXT_CHARS_MAX);
  const most = asNumber(schema.maxLength) ?? Infinity;
  const pattern = asText(schema.pattern);
  const matching = pattern === undefined ? undefined : patternText(pattern, variant, least);
  if (matching !== undefined) return matching;
  const formatted = exampleOfFormat(schema.format, variant);
  if (formatted !== undefined) return formatted;
  return fitted(variant === 0 ? EXAMPLE : `${variant + 1}-${EXAMPLE}`, least, most);
}

/** Repeats the unlimited parts of a pattern until the text is long enough. */
function patternText(pattern: string, variant: number, least: number): string | undefined {
  const text = textForPattern(pattern, variant);
  if (text === undefined || text.length >= least) return text;
  return textForPattern(pattern, variant + least - text.length) ?? text;
}

function fitted(text: string, least: number, most: number): string {
  return text.padEnd(least, 'x').slice(0, Math.max(least, Math.min(most, TEXT_CHARS_MAX)));
}
