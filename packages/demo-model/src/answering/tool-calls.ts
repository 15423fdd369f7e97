import { randomUUID } from 'node:crypto';
import { schemaValue } from '../json-schema/schema-value.ts';
import { isObject, parseJson } from '../wire/json.ts';
import { requestedTools } from './requested-tools.ts';
import type { ChatRequest, Tool } from './chat-request.ts';
import { createMessageHints } from './message-hints.ts';
import { questionOf } from './question.ts';

/** A function call of the model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text. */
  readonly arguments: string;
}

/**
 * The calls that a request asks for. A JSON object after the name of a function becomes its arguments; otherwise they satisfy its
 * schema, with values from the message where they fit.
 */
export function toolCallsFor(request: ChatRequest): readonly ToolCall[] {
  const tools = requestedTools(request);
  if (tools.length === 0) return [];
  const { text } = questionOf(request);
  const hints = createMessageHints(text);
  return tools.map((tool) => ({
    id: `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    name: tool.name,
    arguments: JSON.stringify(
      givenArguments(tool, text) ?? schemaValue({ type: 'object', ...tool.parameters }, { hints }),
    ),
  }));
}

/** The arguments in streamed chunks; each chunk counts as one token, and so does the name. */
export const argumentPieces = (call: ToolCall): readonly string[] => piecesOf(call.arguments);

// Counted in whole characters: half of one cannot be sent.
const PIECE = /[^]{1,8}/gu;

/** A JSON text in small pieces. */
export const piecesOf = (text: string): readonly string[] => text.match(PIECE) ?? [];

function givenArguments(tool: Tool, text: string): unknown {
  const at = text.toLowerCase().indexOf(tool.name.toLowerCase());
  if (at === -1) return undefined;
  const after = text.slice(at + tool.name.length);
  const object = /^`?\s*(?:with\s+)?(\{.*\})/su.exec(after)?.[1];
  const parsed = object === undefined ? undefined : parseJson(object);
  return isObject(parsed) ? parsed : undefined;
}
