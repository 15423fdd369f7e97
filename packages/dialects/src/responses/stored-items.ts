import { textField } from '../turn/fields.ts';
import type { Item } from './body.ts';
import { typeOf } from './items.ts';
import type { ResponsesRequest } from './request.ts';

const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  local_shell_call: 'lsh',
  local_shell_call_output: 'lsho',
};

/** The items of a request as they are stored and listed: each with an id, and with content as parts. */
export function storedItems({
  id,
  input,
}: Pick<ResponsesRequest, 'id' | 'input'>): readonly Item[] {
  const suffix = id.replace('resp_', '');
  return input.map((item, at) => {
    const type = typeOf(item);
    const made = `${ID_PREFIXES[type] ?? 'item'}_${suffix}i${at}`;
    const named = { ...item, type, id: textField(item, 'id') ?? made };
    return type === 'message' ? { ...named, status: 'completed', content: partsOf(item) } : named;
  });
}

function partsOf({ role, content }: Item): unknown {
  if (typeof content !== 'string') return content;
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }];
}
