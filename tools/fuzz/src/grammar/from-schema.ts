import * as fc from 'fast-check';
import { z } from 'zod';

/** A JSON Schema, as far as ours use it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
}

/** Values that fields of a name usually have, such as `{{model}}` for `model`. */
export type FieldValues = Readonly<Record<string, readonly unknown[]>>;

const ITEMS_MAX = 4;
const LETTERS_MAX = 24;
const DEPTH_MAX = 8;
const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  'date-time': fc
    .date({ noInvalidDate: true, min: new Date('2000-01-01'), max: new Date('2100-01-01') })
    .map((date) => date.toISOString()),
};

/** Valid values of a shape of our contracts, as a caller sends them. */
export const fromShape = (shape: z.ZodType, fields: FieldValues = {}): fc.Arbitrary<unknown> =>
  fromSchema(
    z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Schema,
    fields,
  );

/** Valid values of a schema; `find` resolves its references. */
export function fromSchema(
  root: Schema,
  fields: FieldValues = {},
  find: (reference: string) => Schema = (reference) => inside(root, reference),
): fc.Arbitrary<unknown> {
  return valuesOf(root, 0);

  function valuesOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (depth > DEPTH_MAX) return fc.constant(null);
    const deeper = (each: Schema): fc.Arbitrary<unknown> => valuesOf(each, depth + 1);
    const same = (each: Schema): fc.Arbitrary<unknown> => valuesOf(each, depth);
    const alternatives = schema.anyOf ?? schema.oneOf;
    const [first] = schema.allOf ?? [];
    if (schema.$ref !== undefined) return deeper(find(schema.$ref));
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (alternatives !== undefined) return fc.oneof(...alternatives.map(same));
    if (first !== undefined) return same(first);
    const types = [schema.type ?? (schema.properties === undefined ? [] : 'object')].flat();
    if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
    return fc.oneof(...types.map((type) => valuesOfType(type, schema, deeper)));
  }

  function valuesOfType(
    type: string,
    schema: Schema,
    deeper: (each: Schema) => fc.Arbitrary<unknown>,
  ): fc.Arbitrary<unknown> {
    if (type === 'null') return fc.constant(null);
    if (type === 'boolean') return fc.boolean();
    if (type === 'integer') return numbers(schema).map(Math.round);
    if (type === 'number') return numbers(schema);
    if (type === 'string') return texts(schema);
    if (type === 'array') {
      const minLength = Math.min(schema.minItems ?? 0, ITEMS_MAX);
      return fc.array(deeper(schema.items ?? {}), { minLength, maxLength: ITEMS_MAX });
    }
    const { properties = {}, required = [], additionalProperties: more = {} } = schema;
    if (Object.keys(properties).length === 0 && more !== false) {
      const values = deeper(more === true ? {} : more);
      return fc.dictionary(fc.string({ maxLength: 8 }), values, { maxKeys: 3 });
    }
    const known = Object.entries(properties).map(([name, each]) => {
      const usual = fields[name]?.map((value) => fc.constant(value)) ?? [];
      const declared = deeper(each);
      const value = usual.length === 0 ? declared : fc.oneof(fc.oneof(...usual), declared);
      return [name, required.includes(name) ? value : rarely(value)] as const;
    });
    return fc.record(Object.fromEntries(known), { noNullPrototype: true });
  }
}

/** Many optional fields at once are hardly valid. */
const rarely = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

/** The part of a schema that a reference such as `#/$defs/name` names. */
function inside(root: Schema, reference: string): Schema {
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>((part, name) => Reflect.get(Object(part), name), root) as Schema;
}

function numbers({ minimum, maximum = 1000, exclusiveMinimum }: Schema): fc.Arbitrary<number> {
  const min = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 1);
  return fc.oneof(
    fc.integer({ min: Math.ceil(min), max: Math.floor(Math.max(min, Math.min(maximum, 1e9))) }),
    fc.double({ min, max: Math.max(min, Math.min(maximum, 1e9)), noNaN: true }),
  );
}

function texts({ format, minLength = 0, maxLength = LETTERS_MAX }: Schema): fc.Arbitrary<string> {
  const formatted = format === undefined ? undefined : FORMATS[format];
  if (formatted !== undefined) return formatted;
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, LETTERS_MAX)) };
  return fc.oneof(fc.string(length), fc.string({ ...length, unit: 'grapheme' }));
}
