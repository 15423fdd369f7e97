import { z } from 'zod';
import type { Command, ToolDefinition } from '../../commands/command.ts';

type Tool = ToolDefinition<Readonly<Record<string, unknown>>>;

/** A command that is also a tool. */
export interface ToolCommand extends Command {
  readonly tool: Tool;
}

/** The commands that are tools, in their listed order. */
export function toolCommands(commands: readonly Command[]): readonly ToolCommand[] {
  return commands.filter((command): command is ToolCommand => command.tool !== undefined);
}

/** Parameters of all tools, which are not listed: programs use them, models do not. */
const EVERY_TOOL = { allDialogs: z.boolean().optional() };

/** The parameters of a tool. */
export function toolParams(command: ToolCommand): z.ZodObject {
  const { fields, unlisted = [] } = command.tool;
  return schemaOf(command, [...fields, ...unlisted]).extend(EVERY_TOOL);
}

function schemaOf({ params, tool }: ToolCommand, fields: readonly string[]): z.ZodObject {
  const own = fields.map((field) => [field, params.shape[field]] as const);
  return z.object({ ...Object.fromEntries(own), ...tool.overrides });
}

/** The tool in `tools/list`. It is short, because a model reads it at every start. */
export function toolListing(command: ToolCommand) {
  const { name, title, description, fields, annotations, listedDefaults = [] } = command.tool;
  return {
    name,
    description,
    inputSchema: inputSchema(schemaOf(command, fields), listedDefaults),
    outputSchema: OUTPUT_SCHEMA,
    annotations: { title, ...annotations },
  };
}

/** The common fields of all results. It allows additional fields and the results of failures. */
const OUTPUT_SCHEMA = {
  type: 'object' as const,
  properties: { ok: { type: 'boolean' }, url: {}, title: {} },
};

interface JsonSchema {
  type?: string | undefined;
  properties?: Record<string, JsonSchema> | undefined;
  required?: string[] | undefined;
  items?: JsonSchema | undefined;
  [keyword: string]: unknown;
}

// Limits that only an absurd value exceeds are checked, but not listed.
const LISTED = ['type', 'enum', 'description', 'items'] as const;
const MINIMUM_LISTED_MAX = 1;
const MAXIMUM_LISTED_MAX = 10_000;

function inputSchema(params: z.ZodObject, listedDefaults: readonly string[]) {
  const { properties = {}, required = [] } = z.toJSONSchema(params, {
    io: 'input',
    unrepresentable: 'any',
  }) as JsonSchema;
  const listed = Object.entries(properties).map(([name, { default: fallback, ...schema }]) => {
    const isDefaultListed = listedDefaults.includes(name);
    return [
      name,
      { ...listedSchema(schema), ...(isDefaultListed ? { default: fallback } : {}) },
    ] as const;
  });
  return {
    type: 'object' as const,
    properties: Object.fromEntries(listed),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function listedSchema(schema: JsonSchema): JsonSchema {
  const kept = LISTED.filter(
    (keyword) => schema[keyword] !== undefined && !isEmpty(schema[keyword]),
  ).map((keyword) => [
    keyword,
    keyword === 'items' ? listedSchema(schema.items ?? {}) : schema[keyword],
  ]);
  const { minimum, maximum } = schema;
  const isRange = minimum === MINIMUM_LISTED_MAX && maximum === MAXIMUM_LISTED_MAX;
  return { ...Object.fromEntries(kept), ...(isRange ? { minimum, maximum } : {}) } as JsonSchema;
}

/** An empty schema, such as for items of any type, is not listed. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
