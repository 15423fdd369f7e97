import type { RpcInput, RpcMethodName, RpcResult } from '@model-gateway/contracts';

/** The methods whose result is a bare array: a page of a list. The kinds of backends are few, and no pages. */
export type ListMethodName = Exclude<
  {
    [Name in RpcMethodName]: RpcResult<Name> extends readonly unknown[] ? Name : never;
  }[RpcMethodName],
  'backends.kinds'
>;

/** How a list continues: the param, and the field of the last entry that is its value. */
interface ListCursor {
  readonly param: 'after' | 'before';
  readonly field: 'id' | 'email' | 'name' | 'model';
}

const CURSORS: Readonly<Record<ListMethodName, ListCursor>> = {
  'agents.list': { param: 'after', field: 'id' },
  'backends.list': { param: 'after', field: 'name' },
  'conversations.list': { param: 'before', field: 'id' },
  'group.list': { param: 'after', field: 'id' },
  'group.members.list': { param: 'after', field: 'email' },
  'keys.list': { param: 'before', field: 'id' },
  'providers.list': { param: 'after', field: 'id' },
  'routes.list': { param: 'after', field: 'model' },
};

const PAGE_ENTRIES = 1_000;
/** A list that changes meanwhile may begin again. */
const PAGES_MAX = 1_000;

export const isListMethod = (method: RpcMethodName): method is ListMethodName =>
  Object.hasOwn(CURSORS, method);

/** All entries of a list, page by page. `call` makes one call, such as `client.call`. */
export async function listAll<Name extends ListMethodName>(
  call: (method: Name, params: RpcInput<Name>) => Promise<RpcResult<Name>>,
  method: Name,
  params: RpcInput<Name>,
): Promise<RpcResult<Name>> {
  const { param, field } = CURSORS[method];
  const entries: unknown[] = [];
  let cursor: object = {};
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page: readonly unknown[] = await call(method, {
      ...params,
      ...cursor,
      limit: PAGE_ENTRIES,
    });
    entries.push(...page);
    if (page.length !== PAGE_ENTRIES) break;
    cursor = { [param]: (page.at(-1) as Readonly<Record<string, unknown>>)[field] };
  }
  return entries as RpcResult<Name>;
}
