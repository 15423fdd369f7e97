import { property, toolCallsOf } from './chunk-fields.ts';

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
