import { ServiceError, type FunctionTool, type ToolChoice } from '@model-gateway/contracts';
import { sha256Hex } from '@model-gateway/kernel';
import { fieldOf, listField, present, textField } from '../turn/fields.ts';
import type { Item, ResponsesBody } from './body.ts';
import { FieldProblem, type Path } from './field-problem.ts';
import type { Ignored } from './ignored.ts';

/** What a function of the turn is in this API. */
export interface DeclaredTool {
  readonly kind: 'function' | 'custom' | 'local_shell';
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The tools of a request. */
export interface ToolSet {
  readonly functions: readonly FunctionTool[];
  readonly choice: ToolChoice | undefined;
  /** By the name of the function. */
  readonly declared: ReadonlyMap<string, DeclaredTool>;
  /** As the client sent them, without those that are left out. */
  readonly shown: readonly Item[];
}

interface Offered {
  readonly tool: DeclaredTool;
  readonly declaration: FunctionTool;
}

const LOCAL_SHELL = 'local_shell';
const FUNCTION_NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;

/** Tools that the service of this API runs by itself, and agents list by default. */
const HOSTED =
  /^(web_search\w*|file_search|code_interpreter|image_generation|computer\w*|mcp|tool_search|programmatic_tool_calling|shell|apply_patch)$/;

const SHELL_PARAMETERS = {
  type: 'object',
  properties: {
    command: {
      type: 'array',
      items: { type: 'string' },
      description: 'The program and arguments.',
    },
    working_directory: { type: 'string' },
    timeout_ms: { type: 'integer' },
    env: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['command'],
};

const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

/** No tools, where they cannot be read. */
export const noTools = (): ToolSet => ({
  functions: [],
  choice: undefined,
  declared: new Map(),
  shown: [],
});

/** Reads the tools and the choice among them. */
export function readTools(
  { tools, tool_choice: choice }: ResponsesBody,
  ignored: Ignored,
): ToolSet {
  const shown: Item[] = [];
  const offered: Offered[] = [];
  for (const [at, tool] of (tools ?? []).entries()) {
    const type = textField(tool, 'type') ?? '';
    if (HOSTED.test(type)) {
      ignored.add(type);
      continue;
    }
    shown.push(shownTool(tool));
    offered.push(...offersOf(tool, ['tools', at], ignored));
  }
  return { ...chosen(offered, choice ?? undefined, ignored), shown };
}

/** A function as it is returned: clients read these fields from every one. */
const shownTool = (tool: Item): Item =>
  tool['type'] === 'function'
    ? { description: null, parameters: null, strict: null, ...tool }
    : tool;

function offersOf(tool: Item, path: Path, ignored: Ignored): readonly Offered[] {
  const type = textField(tool, 'type');
  if (type === LOCAL_SHELL) {
    const declaration = {
      name: LOCAL_SHELL,
      description: 'Runs a command on the machine of the user and returns its output.',
      parameters: SHELL_PARAMETERS,
    };
    return [{ tool: { kind: LOCAL_SHELL, name: LOCAL_SHELL }, declaration }];
  }
  if (type === 'namespace') {
    const namespace = nameOf(tool, path);
    return listField(tool, 'tools').map((inner, at) =>
      offerOf(inner, [...path, 'tools', at], ignored, namespace),
    );
  }
  return [offerOf(tool, path, ignored)];
}

function offerOf(tool: unknown, path: Path, ignored: Ignored, namespace?: string): Offered {
  const type = textField(tool, 'type');
  if (fieldOf(tool, 'defer_loading') === true) ignored.add('tools.defer_loading');
  if (type === 'function') {
    const name = nameOf(tool, path);
    const parameters = fieldOf(tool, 'parameters') ?? undefined;
    if (parameters !== undefined && !isObject(parameters)) {
      throw new FieldProblem([...path, 'parameters'], 'must be a JSON Schema');
    }
    const strict = fieldOf(tool, 'strict');
    const declaration = {
      name: functionName(name, namespace),
      ...present({
        description: textField(tool, 'description'),
        parameters,
        strict: typeof strict === 'boolean' ? strict : undefined,
      }),
    };
    return { tool: { kind: 'function', name, namespace }, declaration };
  }
  if (type === 'custom') {
    const name = nameOf(tool, path);
    const declaration = {
      name: functionName(name, namespace),
      ...present({ description: customDescription(tool) }),
      parameters: CUSTOM_PARAMETERS,
    };
    return { tool: { kind: 'custom', name, namespace }, declaration };
  }
  throw new FieldProblem([...path, 'type'], `tools of type '${type ?? ''}' are not known`);
}

/** A grammar cannot be enforced by a function, so the model is asked to keep to it. */
function customDescription(tool: unknown): string | undefined {
  const description = textField(tool, 'description');
  const format = fieldOf(tool, 'format');
  const definition = textField(format, 'definition');
  if (definition === undefined) return description;
  const syntax = textField(format, 'syntax') ?? '';
  const rule = `The input must match this ${syntax} grammar:\n${definition}`;
  return description === undefined ? rule : `${description}\n\n${rule}`;
}

function nameOf(tool: unknown, path: Path): string {
  const name = textField(tool, 'name') ?? '';
  if (name === '') throw new FieldProblem([...path, 'name'], 'required');
  return name;
}

/** The name of a tool as a function: with its namespace, and within the limit of most upstreams. */
export function functionName(name: string, namespace: string | undefined): string {
  if (namespace === undefined) return name;
  const full = namespace.endsWith('_') ? `${namespace}${name}` : `${namespace}__${name}`;
  if (full.length <= FUNCTION_NAME_CHARS_MAX) return full;
  const kept = full.slice(0, FUNCTION_NAME_CHARS_MAX - HASH_CHARS - 1);
  return `${kept}_${sha256Hex(full).slice(0, HASH_CHARS)}`;
}

function chosen(
  offered: readonly Offered[],
  choice: string | Item | undefined,
  ignored: Ignored,
): Omit<ToolSet, 'shown'> {
  const setOf = (some: readonly Offered[], made: ToolChoice | undefined) => ({
    functions: some.map(({ declaration }) => declaration),
    choice: made,
    declared: new Map(offered.map(({ tool, declaration }) => [declaration.name, tool])),
  });
  if (choice === undefined || choice === 'auto' || choice === 'none') return setOf(offered, choice);
  if (choice === 'required') {
    if (offered.length === 0) throw unsupported('required');
    return setOf(offered, choice);
  }
  if (typeof choice === 'string') {
    throw new FieldProblem(['tool_choice'], `'${choice}' is not known`);
  }
  if (choice['type'] !== 'allowed_tools') {
    return setOf(offered, { name: chosenTool(offered, choice, ['tool_choice']).declaration.name });
  }
  const mode = choice['mode'] === 'required' ? 'required' : 'auto';
  const allowed = listField(choice, 'tools').flatMap((tool, at) => {
    const type = textField(tool, 'type') ?? '';
    if (!HOSTED.test(type)) return [chosenTool(offered, tool, ['tool_choice', 'tools', at])];
    ignored.add(type);
    return [];
  });
  if (mode === 'required' && allowed.length === 0) throw unsupported('allowed_tools');
  return setOf(allowed, mode);
}

function chosenTool(offered: readonly Offered[], choice: unknown, path: Path): Offered {
  const type = textField(choice, 'type') ?? '';
  if (HOSTED.test(type)) throw unsupported(type);
  const name = type === LOCAL_SHELL ? LOCAL_SHELL : textField(choice, 'name');
  const found = offered.find(({ tool }) => tool.kind === type && tool.name === name);
  if (found === undefined) {
    throw new FieldProblem(path, `names a tool that 'tools' does not have: ${type} ${name ?? ''}`);
  }
  return found;
}

const unsupported = (type: string): ServiceError =>
  new ServiceError(
    'unsupported_tool',
    `'tool_choice': '${type}' demands a hosted tool, and the gateway runs none; use a function tool`,
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
