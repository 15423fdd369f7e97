// The schemas of messages that our contracts leave open, such as those of other providers: learned from examples of them.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type * as fc from 'fast-check';
import { fromSchema, type Schema } from './from-schema.ts';

const FOLDER = resolve(import.meta.dirname, '../../examples');

/** Values like the examples in a file, which has one on each line. */
export function like(name: string): fc.Arbitrary<unknown> {
  const lines = readFileSync(resolve(FOLDER, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return fromSchema(schemaOf(lines.map((line) => JSON.parse(line) as unknown)));
}

/** A schema of which all these values are. */
function schemaOf(values: readonly unknown[]): Schema {
  if (values.length === 0) return {};
  const kinds = [...new Set(values.map(kindOf))];
  const schemas = kinds.map((kind) =>
    schemaOfKind(values.filter((value) => kindOf(value) === kind)),
  );
  return schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas };
}

/** Objects of another type or role are of another kind. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value !== 'object') return typeof value;
  const { type, role } = value as { readonly type?: unknown; readonly role?: unknown };
  return `object ${String(type ?? role)}`;
}

function schemaOfKind(values: readonly unknown[]): Schema {
  const [first] = values;
  if (first === null) return { type: 'null' };
  if (typeof first === 'boolean') return { type: 'boolean' };
  if (typeof first === 'number')
    return values.every(Number.isInteger)
      ? { type: 'integer' }
      : { type: 'number', minimum: Math.min(0, ...(values as number[])), maximum: 1 };
  // Other texts come with the changes; these keep messages valid.
  if (typeof first === 'string') return { enum: [...new Set(values)] };
  if (Array.isArray(first)) return { type: 'array', items: schemaOf(values.flat(1)) };
  const objects = values as readonly Readonly<Record<string, unknown>>[];
  const names = [...new Set(objects.flatMap(Object.keys))];
  return {
    type: 'object',
    properties: Object.fromEntries(
      names.map((each) => [
        each,
        schemaOf(objects.filter((object) => each in object).map((object) => object[each])),
      ]),
    ),
    required: names.filter((each) => objects.every((object) => each in object)),
    additionalProperties: false,
  };
}
