import { countOf, fieldOf, textOf, type Fields } from '../fields.ts';

/** A piece of a chat message. */
interface Delta extends Fields {
  readonly tool_calls?: readonly Fields[];
}

/** The fields of a delta that events with generated text become. */
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['response.output_text.delta', 'content'],
  ['response.refusal.delta', 'refusal'],
  ['response.reasoning_text.delta', 'reasoning_content'],
  ['response.reasoning_summary_text.delta', 'reasoning_content'],
  // What a model writes for hosted tools is generated and paid, but no part of its reply.
  ['response.code_interpreter_call_code.delta', 'reasoning_content'],
  ['response.mcp_call_arguments.delta', 'reasoning_content'],
]);
const ARGUMENTS: ReadonlySet<string> = new Set([
  'response.function_call_arguments.delta',
  'response.custom_tool_call_input.delta',
]);
const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call']);

interface OpenCall {
  readonly index: number;
  /** Whether arguments have arrived in pieces. */
  hasArguments: boolean;
}

/** Reads what the events of one response add to a chat message: what is metered, stored and remembered of it. */
export function createDeltaReader(): (event: Fields) => Delta {
  /** By the position of the item. */
  const calls = new Map<number, OpenCall>();

  function opened(at: number, item: unknown, given = ''): Delta {
    const { size: index } = calls;
    calls.set(at, { index, hasArguments: given !== '' });
    const called = { name: textOf(item, 'name') ?? '', arguments: given };
    const id = textOf(item, 'call_id') ?? '';
    return { tool_calls: [{ index, id, type: 'function', function: called }] };
  }

  /** Arguments that did not arrive in pieces are in the whole item. */
  function ended(at: number, item: unknown): Delta {
    const given = textOf(item, 'arguments') ?? textOf(item, 'input') ?? '';
    const call = calls.get(at);
    if (call === undefined) return opened(at, item, given);
    if (call.hasArguments) return {};
    return { tool_calls: [{ index: call.index, function: { arguments: given } }] };
  }

  return (event) => {
    const type = textOf(event, 'type') ?? '';
    const field = TEXTS.get(type);
    if (field !== undefined) return { [field]: textOf(event, 'delta') ?? '' };
    const at = countOf(event, 'output_index') ?? 0;
    if (ARGUMENTS.has(type)) {
      const call = calls.get(at);
      if (call === undefined) return {};
      call.hasArguments = true;
      const text = textOf(event, 'delta') ?? '';
      return { tool_calls: [{ index: call.index, function: { arguments: text } }] };
    }
    const item = fieldOf(event, 'item');
    if (!CALLS.has(textOf(item, 'type') ?? '')) return {};
    if (type === 'response.output_item.added') return opened(at, item);
    return type === 'response.output_item.done' ? ended(at, item) : {};
  };
}
