import { fieldOf, textField } from '../turn/fields.ts';
import type { Item } from './body.ts';
import type { DeclaredTool } from './tools.ts';

/** A call of a tool that is being written. */
export interface OpenCall {
  readonly id: string;
  readonly callId: string;
  readonly tool: DeclaredTool;
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

/** The free text of a custom tool; a model that ignores the parameters wrote the text itself. */
export function customInput(written: string): string {
  return textField(parsed(written), 'input') ?? written;
}

function shellAction(written: string): Item {
  const given = parsed(written);
  const command = fieldOf(given, 'command');
  const line = typeof command === 'string' ? ['bash', '-lc', command] : command;
  const timeout = fieldOf(given, 'timeout_ms');
  const directory = textField(given, 'working_directory');
  return {
    type: 'exec',
    command: Array.isArray(line) ? line.map(String) : [],
    env: fieldOf(given, 'env') ?? {},
    ...(typeof timeout === 'number' ? { timeout_ms: timeout } : {}),
    ...(directory === undefined ? {} : { working_directory: directory }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
