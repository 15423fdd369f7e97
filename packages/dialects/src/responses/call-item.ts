import type { TurnEvent } from '@model-gateway/contracts';
import { tryParseExactJson, tryParseJson } from '@model-gateway/kernel';
import { fieldOf, numberField, present, textField } from '../turn/fields.ts';
import type { Item } from './body.ts';
import type { DeclaredTool } from './tools.ts';

/** A call of a tool that is being written. */
interface OpenCall {
  readonly id: string;
  readonly callId: string;
  readonly tool: DeclaredTool;
}

/** The item of a call that clients were told of, and its place in the output. */
export interface ShownCall extends OpenCall {
  readonly at: number;
}

export type ToolCall = TurnEvent & { readonly type: 'tool_call' };

/** Of parallel calls, clients are told one after the other: the later ones wait until the first is whole. */
export interface CallInProgress {
  readonly asked: ToolCall;
  written: string;
  shown: ShownCall | undefined;
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** The prefix of the id of a call's item. */
export const CALL_PREFIXES: Readonly<Record<DeclaredTool['kind'], string>> = {
  function: 'fc',
  custom: 'ctc',
  local_shell: 'lsh',
};

/** The item of a call in the type of its tool. The arguments are those of the function that stood for the tool. */
export function callItem(
  { id, callId, tool: { kind, name, namespace } }: OpenCall,
  written: string,
  status: ItemStatus,
): Item {
  const head = { id, call_id: callId, status };
  const named = { ...head, name, ...(namespace === undefined ? {} : { namespace }) };
  switch (kind) {
    case 'function':
      return { ...named, type: 'function_call', arguments: written };
    case 'custom':
      return { ...named, type: 'custom_tool_call', input: customInput(written) };
    case 'local_shell':
      return { ...head, type: 'local_shell_call', action: shellAction(written) };
  }
}

/** The events that tell the whole input of a call, before its item ends. */
export function callEnd(
  { tool: { kind, name } }: OpenCall,
  written: string,
): readonly (readonly [type: string, fields: Item])[] {
  switch (kind) {
    case 'function':
      return [['response.function_call_arguments.done', { name, arguments: written }]];
    case 'custom': {
      const input = customInput(written);
      return [
        ['response.custom_tool_call_input.delta', { delta: input }],
        ['response.custom_tool_call_input.done', { input }],
      ];
    }
    case 'local_shell':
      return [];
  }
}

/** Whether the arguments of a call are complete; nothing can follow an object. */
export const isWhole = (written: string): boolean =>
  written.trimEnd().endsWith('}') && tryParseJson(written) !== undefined;

/** The free text of a custom tool; a model that ignores the parameters wrote the text itself. */
function customInput(written: string): string {
  return textField(tryParseExactJson(written), 'input') ?? written;
}

function shellAction(written: string): Item {
  const given = tryParseExactJson(written);
  const command = fieldOf(given, 'command');
  const line = typeof command === 'string' ? ['bash', '-lc', command] : command;
  const directory = textField(given, 'working_directory');
  return {
    type: 'exec',
    command: Array.isArray(line) ? line.map(String) : [],
    env: fieldOf(given, 'env') ?? {},
    ...present({ timeout_ms: numberField(given, 'timeout_ms') }),
    ...(directory === undefined ? {} : { working_directory: directory }),
  };
}
