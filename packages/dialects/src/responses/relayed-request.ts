import { GATEWAY_FIELDS } from '../gateway-fields.ts';
import { isSealed } from '../turn/call-signatures.ts';
import { textField } from '../turn/fields.ts';
import type { Item, ResponsesBody } from './body.ts';
import type { Ignored } from './ignored.ts';
import { upstreamItemId } from './item-id.ts';
import { typeOf } from './items.ts';

const ENCRYPTED = 'reasoning.encrypted_content';
/** Fields that are set here or at the upstream; the gateway itself keeps responses. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  'input',
  'store',
  'stream',
  'previous_response_id',
]);

/** The client's request for an upstream that speaks the same API, with all items and without what only the gateway knows. */
export function relayedBody(
  body: ResponsesBody,
  items: readonly Item[],
  ignored: Ignored,
): Item & { readonly input: readonly Item[] } {
  const { extra, include } = body;
  const given = Object.entries(body).filter(
    ([name, value]) => !OWN_FIELDS.has(name) && value !== null,
  );
  // A text would have as many entries as characters.
  const fields = isObject(extra) && !Array.isArray(extra) ? Object.entries(extra) : [];
  const defaults = fields.filter(([name]) => !OWN_FIELDS.has(name));
  return {
    ...Object.fromEntries(defaults),
    ...Object.fromEntries(given),
    // What the upstream does not store it can read again only in this form. Models that do not think refuse to give it.
    ...(isObject(body.reasoning) ? { include: [...new Set([...(include ?? []), ENCRYPTED])] } : {}),
    input: items.flatMap((item) => relayedItem(item, ignored)),
  };
}

function relayedItem(item: Item, ignored: Ignored): readonly Item[] {
  if (typeOf(item) === 'reasoning' && !isReadable(item)) {
    ignored.add('input.reasoning');
    return [];
  }
  const given = textField(item, 'id');
  if (given === undefined) return [item];
  const { id: _id, ...others } = item;
  const id = upstreamItemId(given);
  return [id === undefined ? others : { ...others, id }];
}

/** An upstream that stores nothing knows a thought only by what it has encrypted in it. */
function isReadable(item: Item): boolean {
  const content = textField(item, 'encrypted_content');
  return content !== undefined && !isSealed(content);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
