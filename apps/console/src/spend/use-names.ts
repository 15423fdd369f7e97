import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useApi, useUser } from '../api/use-api.ts';
import { useLanguage } from '../preferences/language.tsx';
import type { Dimension } from './spend-series.ts';

const ID_CHARS_SHOWN = 8;
const USERS_MAX = 200;

/** The names of keys, groups and users, which sums have only by id. */
export function useNames(): (dimension: Dimension, key: string | null) => string {
  const api = useApi();
  const { t } = useLanguage();
  const { id: ownId, email, is_admin: isAdmin } = useUser();
  const keys = useQuery(api.query('keys.list')).data;
  const groups = useQuery(api.query('group.list')).data;
  const users = useQuery({
    ...api.query('users.list', { limit: USERS_MAX }),
    enabled: isAdmin,
  }).data;
  const names = useMemo(
    () =>
      new Map<string, string>([
        ...(keys ?? []).map(
          ({ id, name, key_hint: hint }) => [`key ${id}`, `${name} (${hint})`] as const,
        ),
        ...(groups ?? []).map(({ id, name }) => [`group ${id}`, name] as const),
        ...(users?.users ?? []).map((user) => [`user ${user.id}`, user.email] as const),
        [`user ${ownId}`, email],
      ]),
    [keys, groups, users, ownId, email],
  );
  return useCallback(
    (dimension, key) => {
      if (key === null || key === '') return t(`spend.none.${dimension}`);
      const isId = dimension === 'key' || dimension === 'group' || dimension === 'user';
      return names.get(`${dimension} ${key}`) ?? (isId ? key.slice(0, ID_CHARS_SHOWN) : key);
    },
    [names, t],
  );
}
