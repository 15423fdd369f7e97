import { asNumber, type JsonObject } from '../wire/json.ts';

/** A number that a schema allows; each variant is another one where the schema leaves a choice. */
export function numberForSchema(schema: JsonObject, isInteger: boolean, variant: number): number {
  const step = stepOf(schema, isInteger);
  const least = Math.max(
    asNumber(schema.minimum) ?? -Infinity,
    asNumber(schema.exclusiveMinimum) ?? -Infinity,
  );
  const most = Math.min(
    asNumber(schema.maximum) ?? Infinity,
    asNumber(schema.exclusiveMaximum) ?? Infinity,
  );
  const isAllowed = (value: number): boolean =>
    value >= least &&
    value <= most &&
    value !== schema.exclusiveMinimum &&
    value !== schema.exclusiveMaximum &&
    (step === undefined || Number.isInteger(value / step));
  const unit = step ?? 1;
  const start = 1 > least && 1 < most ? 1 : Number.isFinite(least) ? least : most;
  const first = Math.ceil(start / unit);
  const candidates = [
    1 + variant,
    (first + variant) * unit,
    (first + 1 + variant) * unit,
    (Math.floor(start / unit) - variant) * unit,
    (Math.floor(start / unit) - 1 - variant) * unit,
    least + (most - least) / (2 + variant),
    least,
    most,
    0,
  ];
  return candidates.find((value) => Number.isFinite(value) && isAllowed(value)) ?? start;
}

function stepOf(schema: JsonObject, isInteger: boolean): number | undefined {
  const multiple = asNumber(schema.multipleOf);
  if (multiple === undefined || multiple <= 0) return isInteger ? 1 : undefined;
  if (!isInteger || Number.isInteger(multiple)) return multiple;
  return Number.isInteger(1 / multiple) ? 1 : multiple;
}
