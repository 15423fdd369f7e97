import * as fc from 'fast-check';
import { z } from 'zod';
import { listTree, objectTree, rawTree, treeOf, type JsonTree } from './json-tree.ts';

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
  readonly items?: Schema | readonly Schema[];
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** Values that fields of a name usually have, such as `{{model}}` for `model`. */
export type FieldValues = Readonly<Record<string, readonly string[]>>;

interface Context {
  readonly fields: FieldValues;
  find(reference: string): Schema;
}

const ITEMS_MAX = 3;
const LETTERS_MAX = 24;
const DEPTH_MAX = 6;
const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  'date-time': fc
    .date({ noInvalidDate: true, min: new Date('2000-01-01'), max: new Date('2100-01-01') })
    .map((date) => date.toISOString()),
};

/** Valid values of a declared shape, as a caller sends them. */
export function fromShape(shape: z.ZodType, fields: FieldValues): fc.Arbitrary<JsonTree> {
  const schema = z.toJSONSchema(shape, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
  }) as Schema;
  return fromSchema(schema, fields, (reference) => {
    const name = reference.replace('#/definitions/', '');
    return schema.definitions?.[name] ?? {};
  });
}

/** Valid values of a schema. */
export function fromSchema(
  schema: Schema,
  fields: FieldValues,
  find: (reference: string) => Schema,
): fc.Arbitrary<JsonTree> {
  return valuesOf(schema, { fields, find }, 0);
}

const anything = fc.jsonValue({ maxDepth: 2 }).map(treeOf);

function valuesOf(schema: Schema, context: Context, depth: number): fc.Arbitrary<JsonTree> {
  if (depth > DEPTH_MAX) return fc.constant(rawTree('null'));
  const deeper = (each: Schema): fc.Arbitrary<JsonTree> => valuesOf(each, context, depth + 1);
  if (schema.$ref !== undefined) return deeper(context.find(schema.$ref));
  if (schema.const !== undefined) return fc.constant(treeOf(schema.const));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map(treeOf));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map(deeper));
  const [first] = schema.allOf ?? [];
  if (first !== undefined) return deeper(first);
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (types.length === 0) return anything;
  return fc.oneof(...types.map((type) => valuesOfType(type, schema, context, depth)));
}

function valuesOfType(
  type: string,
  schema: Schema,
  context: Context,
  depth: number,
): fc.Arbitrary<JsonTree> {
  switch (type) {
    case 'null':
      return fc.constant(rawTree('null'));
    case 'boolean':
      return fc.boolean().map(treeOf);
    case 'integer':
      return numbers(schema, 1).map((value) => treeOf(Math.round(value)));
    case 'number':
      return numbers(schema, 0).map(treeOf);
    case 'string':
      return texts(schema).map(treeOf);
    case 'array':
      return fc
        .array(valuesOf(itemsOf(schema), context, depth + 1), {
          minLength: Math.min(schema.minItems ?? 0, ITEMS_MAX),
          maxLength: ITEMS_MAX,
        })
        .map(listTree);
    default:
      return objects(schema, context, depth);
  }
}

function itemsOf({ items }: Schema): Schema {
  return Array.isArray(items) ? ((items as readonly Schema[])[0] ?? {}) : ((items ?? {}) as Schema);
}

function numbers(schema: Schema, step: number): fc.Arbitrary<number> {
  const above = schema.exclusiveMinimum === undefined ? 0 : schema.exclusiveMinimum + step;
  const min = schema.minimum ?? above;
  const max = Math.max(min, Math.min(schema.maximum ?? 1000, 1e9));
  return step === 1
    ? fc.integer({ min: Math.ceil(min), max: Math.floor(max) })
    : fc.double({ min, max, noNaN: true });
}

function texts({ format, minLength = 0, maxLength = LETTERS_MAX }: Schema): fc.Arbitrary<string> {
  const formatted = format === undefined ? undefined : FORMATS[format];
  if (formatted !== undefined) return formatted;
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, LETTERS_MAX)) };
  return fc.oneof(fc.string(length), fc.string({ ...length, unit: 'grapheme' }));
}

function objects(schema: Schema, context: Context, depth: number): fc.Arbitrary<JsonTree> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const names = Object.keys(properties);
  if (names.length === 0 && additionalProperties !== false) {
    const inner = typeof additionalProperties === 'object' ? additionalProperties : {};
    return fc
      .array(fc.tuple(fc.string({ maxLength: 8 }), valuesOf(inner, context, depth + 1)), {
        maxLength: ITEMS_MAX,
      })
      .map((fields) => ({ kind: 'object', fields }));
  }
  const model = Object.fromEntries(
    names.map((name) => {
      const value = fieldValues(name, properties[name] ?? {}, context, depth);
      const isRequired = required.includes(name);
      return [name, isRequired ? value : fc.option(value, { nil: undefined, freq: 1 })];
    }),
  );
  return fc.record(model).map(objectTree);
}

function fieldValues(
  name: string,
  schema: Schema,
  context: Context,
  depth: number,
): fc.Arbitrary<JsonTree> {
  const declared = valuesOf(schema, context, depth + 1);
  const usual = context.fields[name];
  if (usual === undefined) return declared;
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...usual.map((text) => rawTree(text))) },
    { weight: 1, arbitrary: declared },
  );
}
