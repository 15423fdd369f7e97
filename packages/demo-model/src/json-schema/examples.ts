import { asNumber, type JsonObject } from '../wire/json.ts';
import { isInRange } from './allowed-value.ts';
import { exampleOfFormat } from './formats.ts';

const EXAMPLE = 'example';
const TEXT_CHARS_MAX = 64 * 1024;

/** A text that a schema allows; each variant is another one where the schema leaves a choice. */
export function exampleText(schema: JsonObject, variant: number): string {
  const formatted = exampleOfFormat(schema.format, variant);
  if (formatted !== undefined) return formatted;
  const least = Math.min(asNumber(schema.minLength) ?? 0, TEXT_CHARS_MAX);
  const most = Math.min(asNumber(schema.maxLength) ?? Infinity, TEXT_CHARS_MAX);
  const text = variant === 0 ? EXAMPLE : `${variant + 1}-${EXAMPLE}`;
  return text.padEnd(least, 'x').slice(0, Math.max(least, most));
}

/** A number that a schema allows; each variant is another one where the schema leaves a choice. */
export function exampleNumber(schema: JsonObject, isInteger: boolean, variant: number): number {
  const least = Math.max(
    asNumber(schema.minimum) ?? -Infinity,
    asNumber(schema.exclusiveMinimum) ?? -Infinity,
  );
  const most = Math.min(
    asNumber(schema.maximum) ?? Infinity,
    asNumber(schema.exclusiveMaximum) ?? Infinity,
  );
  const multiple = asNumber(schema.multipleOf) ?? 0;
  const part = Number.isFinite(most - least) ? (most - least) / 4 : 1;
  const unit = multiple > 0 ? multiple : isInteger ? 1 : part || 1;
  const start = Number.isFinite(least) ? least : Number.isFinite(most) ? most : 0;
  const near = [0, 1, 2, -1, -2].map((steps) => (Math.ceil(start / unit) + steps + variant) * unit);
  const candidates = [1 + variant, ...near, least, most, 0];
  const fits = (value: number): boolean =>
    Number.isFinite(value) && isInRange(schema, value) && !(isInteger && !Number.isInteger(value));
  return candidates.find(fits) ?? start;
}
