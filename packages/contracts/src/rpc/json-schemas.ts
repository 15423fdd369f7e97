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
  const { properties, definitions } = converted.parse(JSON.parse(JSON.stringify(whole), relocate));
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

function relocate(key: string, value: unknown): unknown {
  return key === '$ref' && typeof value === 'string'
    ? value.replace('#/definitions/', '#/components/schemas/')
    : value;
}
