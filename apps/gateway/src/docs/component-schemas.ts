import { z } from 'zod';
import type { NamedSchema, Operation } from '../operations/operation.ts';

export type Io = 'input' | 'output';
type JsonSchema = Readonly<Record<string, unknown>>;

/** The schemas that operations refer to. */
export interface ComponentSchemas {
  readonly named: Readonly<Record<string, JsonSchema>>;
  /** A reference to a named schema, or the description of another one. */
  of(body: NamedSchema | z.ZodType, io: Io): JsonSchema;
}

const COMPONENTS = '#/components/schemas/';
/** Where zod puts schemas that are named by their own definition. */
const SHARED = '__shared';
/** Tools that make up requests fill the bound, and no sensible request reaches a higher one. */
const ITEMS_MAX = 1_000;
/** Their formats say the same. */
const FORMATS_WITH_PATTERN: ReadonlySet<unknown> = new Set(['uuid', 'date-time', 'email']);
/** Not every language has Unicode classes in its patterns. */
const CONTROL_CHARACTERS = {
  class: String.raw`\P{Cc}`,
  plain: String.raw`[^\u0000-\u001f\u007f-\u009f]`,
};

/** Converts the bodies of operations, and those of the errors that any of them may have. */
export function componentSchemas(
  operations: readonly Operation[],
  errors: readonly NamedSchema[],
): ComponentSchemas {
  const bodies = operations.flatMap(({ response, draining }) =>
    [response, draining].filter((body) => body !== undefined && 'name' in body),
  );
  return {
    named: {
      ...converted(
        operations.flatMap(({ request }) => request ?? []),
        'input',
      ),
      ...converted([...errors, ...bodies], 'output'),
    },
    of: (body, io) => ('name' in body ? { $ref: COMPONENTS + body.name } : inlineSchema(body, io)),
  };
}

/** The schema of a text, a file or parameters, which no name stands for. */
export function inlineSchema(schema: z.ZodType, io: Io): JsonSchema {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, optionsOf(io));
  if (described.$defs !== undefined) throw new Error('a schema with references needs a name');
  return described;
}

function converted(bodies: readonly NamedSchema[], io: Io): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ readonly id: string }>();
  for (const { name: id, schema } of bodies) registry.add(schema, { id });
  const { schemas: all } = z.toJSONSchema(registry, {
    ...optionsOf(io),
    uri: (id) => COMPONENTS + id,
  });
  const { [SHARED]: shared, ...named } = JSON.parse(JSON.stringify(all), relocate) as Readonly<
    Record<string, JsonSchema>
  >;
  const { $defs = {} } = (shared ?? {}) as {
    readonly $defs?: Readonly<Record<string, JsonSchema>>;
  };
  return Object.fromEntries(
    Object.entries({ ...named, ...$defs }).map(([name, schema]) => {
      const { $id: _id, $schema: _dialect, id: _name, ...described } = schema;
      return [name, described];
    }),
  );
}

const relocate = (key: string, value: unknown): unknown =>
  key === '$ref' && typeof value === 'string'
    ? value.replace(`${COMPONENTS}${SHARED}#/$defs/`, COMPONENTS)
    : value;

const optionsOf = (io: Io) =>
  ({
    io,
    target: 'draft-2020-12',
    override: ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }) =>
      simplify(jsonSchema),
  }) as const;

/** Removes rules that say nothing, that only our own code can use, or that would forbid fields of a later version. */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (Number(schema.maxItems) > ITEMS_MAX) delete schema.maxItems;
  if (FORMATS_WITH_PATTERN.has(schema.format)) delete schema.pattern;
  schema.pattern &&= schema.pattern.replaceAll(CONTROL_CHARACTERS.class, CONTROL_CHARACTERS.plain);
}
