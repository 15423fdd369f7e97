import { randomUUID } from 'node:crypto';
import { asList, asObject, asText, isObject, parseJson } from '../wire/json.ts';
import type { ChatRequest, Tool } from './chat-request.ts';

/** A function call of the model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text. */
  readonly arguments: string;
}

const ARGUMENT_PIECE_CHARACTERS = 8;

/**
 * The calls a request asks for: `call <name>` in the last user message for every tool of that name, or a forced tool choice.
 * A JSON object after the name becomes the arguments; otherwise they are examples from the tool's schema.
 */
export function toolCallsFor(request: ChatRequest): readonly ToolCall[] {
  const last = request.messages.at(-1);
  if (last?.role !== 'user' || request.toolChoice === 'none') return [];
  const named = request.tools.filter((tool) => isNamed(tool, last.text));
  const forced = request.tools.filter((tool) => tool.name === request.toolChoice);
  const fallback = request.toolChoice === 'required' ? request.tools.slice(0, 1) : [];
  const chosen = [forced, named, fallback].find((tools) => tools.length > 0) ?? [];
  return chosen.map((tool) => ({
    id: `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    name: tool.name,
    arguments: JSON.stringify(givenArguments(tool, last.text) ?? exampleArguments(tool)),
  }));
}

/** The arguments in streamed chunks; each chunk counts as one token, and so does the name. */
export function argumentPieces(call: ToolCall): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < call.arguments.length; at += ARGUMENT_PIECE_CHARACTERS) {
    pieces.push(call.arguments.slice(at, at + ARGUMENT_PIECE_CHARACTERS));
  }
  return pieces;
}

function isNamed(tool: Tool, text: string): boolean {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}_.-]+/u);
  const name = tool.name.toLowerCase();
  return words.some(
    (word, index) => words[index - 1] === 'call' && word.replace(/[.-]+$/, '') === name,
  );
}

function givenArguments(tool: Tool, text: string): unknown {
  const after = text.slice(text.toLowerCase().indexOf(tool.name.toLowerCase()) + tool.name.length);
  const object = /^\s*(?:with\s+)?(\{.*\})/su.exec(after)?.[1];
  const parsed = object === undefined ? undefined : parseJson(object);
  return isObject(parsed) ? parsed : undefined;
}

function exampleArguments({ parameters }: Tool): unknown {
  const properties = asObject(parameters.properties);
  const names = asList(parameters.required).flatMap((name) => asText(name) ?? []);
  return Object.fromEntries(names.map((name) => [name, exampleOf(asObject(properties[name]))]));
}

const EXAMPLES: Readonly<Record<string, unknown>> = {
  string: 'example',
  number: 1,
  integer: 1,
  boolean: true,
  array: [],
  object: {},
};

function exampleOf(schema: Readonly<Record<string, unknown>>): unknown {
  return asList(schema.enum)[0] ?? EXAMPLES[asText(schema.type) ?? 'string'] ?? null;
}
