import { failureIn } from '@model-gateway/dialects';
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
    return isBareError(chunk) ? messageOf(chunk) : failureIn(chunk);
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
/** As llama.cpp wrote it for long. */
const ERROR_LINE = /^error: ?(?=\{)/;

/** The text of an event that is an error by its name, whatever its data is; undefined for other events. */
export function errorOfNamed(lines: readonly string[], data: string): string | undefined {
  const own = lines.find((line) => ERROR_LINE.test(line));
  if (own !== undefined) return messageOf(tryParseJson(own.replace(ERROR_LINE, '')));
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

/**
 * All text of a delta or a message, for an estimate: what it says, thinks, refuses and calls. Clients that leave pay for
 * all of it, since the upstream has generated it.
 */
export function textOfDelta(delta: unknown): string {
  if (typeof delta !== 'object' || delta === null) return '';
  return (
    textOfContent(property(delta, 'content')) +
    reasoningOf(delta) +
    stringOf(property(delta, 'refusal')) +
    toolCallsOf(delta).map(textOfToolCall).join('') +
    textOfCall(property(delta, 'function_call')) +
    stringOf(property(property(delta, 'audio'), 'transcript'))
  );
}

/** Some upstreams send the same text under both names. */
function reasoningOf(delta: unknown): string {
  const content = stringOf(property(delta, 'reasoning_content'));
  const reasoning = stringOf(property(delta, 'reasoning'));
  return content === reasoning ? content : content + reasoning;
}

const textOfToolCall = (call: unknown): string =>
  textOfCall(property(call, 'function') ?? property(call, 'custom'));

/** The name of a tool and its arguments, which are text or, at some upstreams, an object. */
function textOfCall(call: unknown): string {
  const given = property(call, 'arguments') ?? property(call, 'input');
  const text = typeof given === 'object' && given !== null ? JSON.stringify(given) : given;
  return stringOf(property(call, 'name')) + stringOf(text);
}

/** Content is text or a list of parts; a part that is a thought has parts of its own. */
function textOfContent(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content);
  return content.map((part: unknown) => textOfPart(part)).join('');
}

const textOfPart = (part: unknown): string =>
  stringOf(property(part, 'text')) +
  stringOf(property(part, 'refusal')) +
  textOfThought(property(part, 'thinking'));

const textOfThought = (thought: unknown): string =>
  Array.isArray(thought)
    ? thought.map((part: unknown) => stringOf(property(part, 'text'))).join('')
    : stringOf(thought);

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
