import type { TurnEvent } from '@model-gateway/contracts';
import { countOf, fieldOf, textOf, type Fields } from '../fields.ts';

/** What the text of an event is. */
const TEXTS: ReadonlyMap<string, 'text' | 'refusal' | 'reasoning'> = new Map([
  ['response.output_text.delta', 'text'],
  ['response.refusal.delta', 'refusal'],
  ['response.reasoning_text.delta', 'reasoning'],
  ['response.reasoning_summary_text.delta', 'reasoning'],
  // What a model writes for hosted tools is generated and paid, but no part of its reply.
  ['response.code_interpreter_call_code.delta', 'reasoning'],
  ['response.mcp_call_arguments.delta', 'reasoning'],
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

const NOTHING: readonly TurnEvent[] = [];

/** Reads what the events of one response say: what is metered, stored and remembered of it. */
export function createResponseReader(): (event: Fields) => readonly TurnEvent[] {
  /** By the position of the item. */
  const calls = new Map<number, OpenCall>();

  function opened(at: number, item: unknown, given = ''): readonly TurnEvent[] {
    const { size: index } = calls;
    calls.set(at, { index, hasArguments: given !== '' });
    const name = textOf(item, 'name') ?? '';
    const call = { type: 'tool_call' as const, index, id: textOf(item, 'call_id') ?? '', name };
    return given === '' ? [call] : [call, { type: 'tool_arguments', index, text: given }];
  }

  /** Arguments that did not arrive in pieces are in the whole item. */
  function ended(at: number, item: unknown): readonly TurnEvent[] {
    const given = textOf(item, 'arguments') ?? textOf(item, 'input') ?? '';
    const call = calls.get(at);
    if (call === undefined) return opened(at, item, given);
    if (call.hasArguments) return NOTHING;
    return [{ type: 'tool_arguments', index: call.index, text: given }];
  }

  return (event) => {
    const type = textOf(event, 'type') ?? '';
    const kind = TEXTS.get(type);
    if (kind !== undefined) return [{ type: kind, text: textOf(event, 'delta') ?? '' }];
    const at = countOf(event, 'output_index') ?? 0;
    if (ARGUMENTS.has(type)) {
      const call = calls.get(at);
      if (call === undefined) return NOTHING;
      call.hasArguments = true;
      const text = textOf(event, 'delta') ?? '';
      return [{ type: 'tool_arguments', index: call.index, text }];
    }
    const item = fieldOf(event, 'item');
    if (!CALLS.has(textOf(item, 'type') ?? '')) return NOTHING;
    if (type === 'response.output_item.added') return opened(at, item);
    return type === 'response.output_item.done' ? ended(at, item) : NOTHING;
  };
}
