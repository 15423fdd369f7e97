import { useCallback } from 'react';
import { useApi, useUser } from '../api/use-api.ts';
import { useQuery } from '../api/use-query.ts';
import { useLanguage } from '../preferences/language.tsx';
import type { Dimension } from './spend-series.ts';

const ID_CHARS_SHOWN = 8;
const USERS_MAX = 200;

/** What a key of a dimension is called; with the name that came with it, where the lists below do not have it. */
type NameOf = (dimension: Dimension, key: string | null, given?: string) => string;

/** The names of keys, groups and users. */
export function useNames(): NameOf {
  const api = useApi();
  const { t } = useLanguage();
  const { id: ownId, email, is_admin: isAdmin } = useUser();
  const keys = useQuery(api.query('keys.list')).data;
  const groups = useQuery(api.query('group.list')).data;
  const users = useQuery({
    ...api.query('users.list', { limit: USERS_MAX }),
    enabled: isAdmin,
  }).data;
  return useCallback(
    (dimension, key, given) => {
      if (key === null || key === '') return t(`spend.none.${dimension}`);
      const short = given ?? key.slice(0, ID_CHARS_SHOWN);
      if (dimension === 'key')
        return namesOf(keys, ({ name, key_hint: hint }) => `${name} (${hint})`).get(key) ?? short;
      if (dimension === 'group') return namesOf(groups, ({ name }) => name).get(key) ?? short;
      if (dimension === 'user')
        return key === ownId
          ? email
          : (namesOf(users?.users, (user) => user.email).get(key) ?? short);
      return key;
    },
    [keys, groups, users, ownId, email, t],
  );
}

/** The names of a list, by id. Each list is read once, when a name of it is first wanted: it can have thousands of rows, and many parts of a page ask. */
function namesOf<Row extends { readonly id: string }>(
  rows: readonly Row[] | undefined,
  nameOf: (row: Row) => string,
): ReadonlyMap<string, string> {
  if (rows === undefined) return NONE;
  const known = read.get(rows);
  if (known !== undefined) return known;
  const names = new Map(rows.map((row) => [row.id, nameOf(row)]));
  read.set(rows, names);
  return names;
}

const NONE: ReadonlyMap<string, string> = new Map();
const read = new WeakMap<object, ReadonlyMap<string, string>>();
