import { createJsonMeter, JSON_COST_MAX } from './json-meter.ts';
import { tryParseExactJson } from './exact-json.ts';

/** Looking at a text takes time, too, however few values it has. */
const CHARS_MAX = 8 * 1024 * 1024;

/** Parses a text; undefined if it is not JSON. */
export type ParseInnerJson = (text: string) => unknown;

/**
 * For the texts of JSON inside of one message, such as the arguments of its tool calls: they are no values of the message, so
 * that its own check does not count them. Texts that would take long to parse together are not JSON.
 */
export function createInnerJson(): ParseInnerJson {
  let left = JSON_COST_MAX;
  let charsLeft = CHARS_MAX;
  return (text) => {
    charsLeft -= text.length;
    if (charsLeft < 0) return undefined;
    // For each text another one: a quote in one text must not hide the values of the next.
    const meter = createJsonMeter(left);
    if (!meter.add(Buffer.from(text))) {
      left = 0;
      return undefined;
    }
    left -= meter.cost;
    return tryParseExactJson(text);
  };
}
