import { z } from 'zod';
import type { Command, ToolDefinition } from '../commands/command.ts';

type Tool = ToolDefinition<Readonly<Record<string, unknown>>>;

/** A command that is also a tool. */
export interface ToolCommand extends Command {
  readonly tool: Tool;
}

/** Those commands that are tools, in the order in which they are listed. */
export function toolCommands(commands: readonly Command[]): readonly ToolCommand[] {
  return commands.filter((command): command is ToolCommand => command.tool !== undefined);
}

/** What a tool takes. */
export function toolParams(command: ToolCommand): z.ZodObject {
  const { fields, unlisted = [] } = command.tool;
  return schemaOf(command, [...fields, ...unlisted]);
}

function schemaOf({ params, tool }: ToolCommand, fields: readonly string[]): z.ZodObject {
  const own = fields.map((field) => [field, params.shape[field]] as const);
  return z.object({ ...Object.fromEntries(own), ...tool.overrides });
}

/** The tool as `tools/list` shows it. Every word of it is read by a model at every start, so that there are few. */
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

/** What every answer has. Fields of a tool's own come besides, and what a failure answers fits as well. */
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

// Limits that only an absurd value would meet are checked, but not told.
const TOLD = ['type', 'enum', 'description', 'items'] as const;
const MINIMUM_TOLD_MAX = 1;
const MAXIMUM_TOLD_MAX = 10_000;

function inputSchema(params: z.ZodObject, listedDefaults: readonly string[]) {
  const { properties = {}, required = [] } = z.toJSONSchema(params, {
    io: 'input',
    unrepresentable: 'any',
  }) as JsonSchema;
  const told = Object.entries(properties).map(([name, { default: fallback, ...schema }]) => {
    const isTold = listedDefaults.includes(name);
    return [name, { ...toldOf(schema), ...(isTold ? { default: fallback } : {}) }] as const;
  });
  return {
    type: 'object' as const,
    properties: Object.fromEntries(told),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function toldOf(schema: JsonSchema): JsonSchema {
  const kept = TOLD.filter(
    (keyword) => schema[keyword] !== undefined && !isEmpty(schema[keyword]),
  ).map((keyword) => [keyword, keyword === 'items' ? toldOf(schema.items ?? {}) : schema[keyword]]);
  const { minimum, maximum } = schema;
  const isRange = minimum === MINIMUM_TOLD_MAX && maximum === MAXIMUM_TOLD_MAX;
  return { ...Object.fromEntries(kept), ...(isRange ? { minimum, maximum } : {}) } as JsonSchema;
}

/** A list of anything needs no word on its items. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
