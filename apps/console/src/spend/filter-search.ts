import type { RpcInput } from '@model-gateway/contracts';
import type { Nothing } from '../frame/page-search.ts';

/** What a page about requests filters by, in its address. */
export interface FilterSearch {
  /** `self`, `all`, or the id of a group. */
  readonly scope?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly key_id?: string;
  readonly project?: string;
  readonly user_id?: string;
}

/** The filters besides the scope, in the order in which they are shown. */
export const FILTERS = ['model', 'upstream', 'key_id', 'project', 'user_id'] as const;

export type FilterName = (typeof FILTERS)[number];

/** An address without filters. */
export const NO_FILTERS: Nothing<FilterSearch> = {
  scope: undefined,
  model: undefined,
  upstream: undefined,
  key_id: undefined,
  project: undefined,
  user_id: undefined,
};

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const NAME_CHARS_MAX = 255;

/** Reads the filters of an address; what is invalid is left out. */
export function filterSearch(search: Readonly<Record<string, unknown>>): FilterSearch {
  const { scope } = search;
  const isScope = scope === 'self' || scope === 'all' || isId(scope);
  const filters: Partial<Record<FilterName, string>> = {};
  for (const name of FILTERS) {
    const value = search[name];
    const isValid = name === 'key_id' || name === 'user_id' ? isId(value) : isName(value);
    if (isValid) filters[name] = value as string;
  }
  return { ...(isScope ? { scope } : {}), ...filters };
}

/** What both methods about requests are asked with. */
export type FilterParams = Pick<
  RpcInput<'usage.summary'>,
  'scope' | 'group_id' | 'model' | 'upstream' | 'key_id' | 'project' | 'user_id'
>;

/** The filters as params of a method. Only admins may ask for the requests of all. */
export function filterParams(
  { scope: chosen, ...filters }: FilterSearch,
  fallback: 'self' | 'all',
  isAdmin: boolean,
): FilterParams {
  const scope = scopeOf(chosen === undefined ? {} : { scope: chosen }, fallback, isAdmin);
  const { model, upstream, key_id: keyId, project, user_id: userId } = filters;
  return {
    ...(scope === 'self' || scope === 'all' ? { scope } : { scope: 'group', group_id: scope }),
    ...(model === undefined ? {} : { model }),
    ...(upstream === undefined ? {} : { upstream }),
    ...(keyId === undefined ? {} : { key_id: keyId }),
    ...(project === undefined ? {} : { project }),
    // One's own requests are those of one user.
    ...(userId === undefined || scope === 'self' ? {} : { user_id: userId }),
  };
}

/** The scope that applies: the chosen one, or the one of the page as far as the viewer may have it. */
export const scopeOf = (
  { scope }: Pick<FilterSearch, 'scope'>,
  fallback: 'self' | 'all',
  isAdmin: boolean,
): string => scope ?? (isAdmin ? fallback : 'self');

export function without(search: FilterSearch, name: FilterName): FilterSearch {
  const { [name]: _removed, ...rest } = search;
  return rest;
}

const isId = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= NAME_CHARS_MAX;
