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

/** An id of an item that the gateway made contains that of its response. */
const MADE_ID = /^[a-z]{2,4}_([0-9a-f]{32})i?\d+$/;

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

/** The response that has an item, by the item's id; undefined if the gateway did not make the id. */
export function responseOfItem(itemId: string): string | undefined {
  const made = MADE_ID.exec(itemId)?.[1];
  return made === undefined ? undefined : `resp_${made}`;
}
