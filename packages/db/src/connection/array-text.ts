type Element = string | number | boolean | null;

/**
 * An array as Postgres writes it, to be passed as one text where the statement names the type of the array. Of long lists this costs
 * a part of what a list as a parameter costs, whose elements are looked at one by one several times.
 */
export function arrayText(values: readonly Element[]): string {
  let text = '{';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ',';
    text += elementText(values[index] ?? null);
  }
  return `${text}}`;
}

function elementText(value: Element): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? quoted(value) : String(value);
}

const SPECIAL = /["\\]/;

const quoted = (text: string): string =>
  SPECIAL.test(text)
    ? `"${text.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`)}"`
    : `"${text}"`;
