import { z } from 'zod';
import { SECTION_SCHEMAS, SECTIONS } from './sections.ts';

/** The parts of a JSON Schema that the reader of the file uses. */
export interface JsonSchema {
  readonly type?: string | undefined;
  readonly properties?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly items?: JsonSchema | undefined;
  readonly anyOf?: readonly JsonSchema[] | undefined;
}

const jsonSchema: z.ZodType<JsonSchema> = z.looseObject({
  type: z.string().optional(),
  get properties() {
    return z.record(z.string(), jsonSchema).optional();
  },
  get items() {
    return jsonSchema.optional();
  },
  get anyOf() {
    return z.array(jsonSchema).optional();
  },
});

/** A whole file: every section is optional. */
const fileSchema = z.object(
  Object.fromEntries(SECTIONS.map((name) => [name, z.array(SECTION_SCHEMAS[name]).nullish()])),
);

let exact: JsonSchema | undefined;

/** The JSON Schema of the values in a file, after the variables are replaced. */
export const exactJsonSchema = (): JsonSchema =>
  (exact ??= jsonSchema.parse(
    z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-7', override: closeObject }),
  ));

/** The JSON Schema of a configuration file, for editors: where it wants more than a text, a variable is allowed too. */
export const configJsonSchema = (): object => ({
  title: 'The configuration file of Model Gateway (SERVICE_CONFIG)',
  ...withVariables(exactJsonSchema()),
});

/** Fields that no call knows are mistakes. */
function closeObject({ jsonSchema: node }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum;
  if (node.properties !== undefined) node.additionalProperties ??= false;
}

const VARIABLE = { type: 'string', pattern: String.raw`\$\{[^}]+\}` };
const PLAIN_TYPES: ReadonlySet<unknown> = new Set(['number', 'integer', 'boolean']);
const NARROW = ['enum', 'pattern', 'format', 'const'];

function withVariables(schema: JsonSchema): JsonSchema {
  const widened = {
    ...schema,
    ...(schema.properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, field]) => [name, withVariables(field)]),
      ),
    }),
    ...(schema.items !== undefined && { items: withVariables(schema.items) }),
    ...(schema.anyOf !== undefined && { anyOf: schema.anyOf.map(withVariables) }),
  };
  const isNarrow = PLAIN_TYPES.has(schema.type) || NARROW.some((rule) => rule in schema);
  return isNarrow ? { anyOf: [widened, VARIABLE] } : widened;
}
