import { numberOf, tryParseJson } from '@model-gateway/kernel';

/** Whether a chunk has usage and nothing else: it is sent only to clients that requested usage. */
export function isUsageOnly(chunk: unknown): boolean {
  const usage = property(chunk, 'usage');
  return usage !== undefined && usage !== null && choicesOf(chunk).length === 0;
}

/** The text of an error in an upstream's stream. */
export function errorOf(chunk: unknown): string | undefined {
  const error = property(chunk, 'error');
  if (error === undefined || error === null)
    return isBareError(chunk) ? messageOf(chunk) : undefined;
  const message = typeof error === 'string' ? error : property(error, 'message');
  return typeof message === 'string' ? message : JSON.stringify(error);
}

/** An error without an object around it, as vLLM sent it for long. */
const isBareError = (chunk: unknown): boolean =>
  property(chunk, 'object') === 'error' || property(chunk, 'type') === 'error';

function messageOf(error: unknown): string {
  const message = property(error, 'message');
  return typeof message === 'string' ? message : 'the upstream reported an error';
}

const ERROR_EVENT = /^event: ?error\s*$/;

/** The text of an event that is an error by its name, whatever its data is; undefined for other events. */
export function errorOfNamed(lines: readonly string[], data: string): string | undefined {
  if (!lines.some((line) => ERROR_EVENT.test(line))) return undefined;
  const error = tryParseJson(data);
  return errorOf(error) ?? messageOf(error);
}

/** The delta of the first choice in a chunk, if there is one. */
export function firstDelta(chunk: unknown): unknown {
  return property(choicesOf(chunk).find(isFirstChoice), 'delta');
}

/** What a delta or a message says: its text, the texts of its parts, or its refusal. */
export function contentOf(delta: unknown): string {
  const content = property(delta, 'content');
  if (typeof content === 'string' && content !== '') return content;
  if (Array.isArray(content)) return content.map((part) => textIn(part, 'text')).join('');
  return textIn(delta, 'refusal');
}

function textIn(value: unknown, name: string): string {
  const text = property(value, name);
  return typeof text === 'string' ? text : '';
}

/** The tool calls in a delta. */
export function toolCallsOf(delta: unknown): readonly unknown[] {
  const calls = property(delta, 'tool_calls');
  return Array.isArray(calls) ? calls : [];
}

/** Whether a choice is the one that is used where only one can be. */
export function isFirstChoice(choice: unknown): boolean {
  return (numberOf(property(choice, 'index')) ?? 0) === 0;
}

/** The choices of a chunk. */
export function choicesOf(chunk: unknown): readonly unknown[] {
  const choices = property(chunk, 'choices');
  return Array.isArray(choices) ? choices : [];
}

/** A field of any value. */
export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
