import { z } from 'zod';

/** A JSON Schema, draft 7, which OpenRPC uses. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schemas of many shapes; named schemas are listed separately and referenced. */
export interface JsonSchemas {
  of(name: string): JsonSchema;
  readonly named: Readonly<Record<string, JsonSchema>>;
}

const CHECKED_FORMATS = ['uuid', 'date-time', 'email'];

const schemaRecord = z.record(z.string(), z.record(z.string(), z.unknown()));
const converted = z.object({ properties: schemaRecord, definitions: schemaRecord.default({}) });

/** Converts shapes, as a caller sends them (`input`) or as the service returns them (`output`). */
export function jsonSchemas(
  shapes: Readonly<Record<string, z.ZodType>>,
  io: 'input' | 'output',
): JsonSchemas {
  const whole = z.toJSONSchema(z.object(shapes), {
    io,
    target: 'draft-7',
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  const { properties, definitions } = converted.parse(JSON.parse(JSON.stringify(whole), adapt));
  return {
    named: definitions,
    of(name) {
      const schema = properties[name];
      if (schema === undefined) throw new Error(`unknown shape ${name}`);
      return schema;
    },
  };
}

/** Removes redundant rules that are hard to read, and rules that would forbid fields of a later version. */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined) {
    if (CHECKED_FORMATS.includes(schema.format)) delete schema.pattern;
    else delete schema.format;
  }
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.propertyNames !== undefined && Object.keys(schema.propertyNames).join() === 'type') {
    delete schema.propertyNames;
  }
}

/** References point to where OpenRPC has schemas, and lists of types become alternatives, which its generators need. */
function adapt(key: string, value: unknown): unknown {
  if (key === '$ref' && typeof value === 'string')
    return value.replace('#/definitions/', '#/components/schemas/');
  return hasTypes(value) ? alternatives(value) : value;
}

interface WithTypes {
  readonly type: readonly string[];
}

const hasTypes = (value: unknown): value is WithTypes =>
  typeof value === 'object' && value !== null && 'type' in value && Array.isArray(value.type);

const alternatives = ({ type: types, ...rest }: WithTypes): JsonSchema => ({
  ...rest,
  anyOf: types.map((type) => ({ type })),
});
