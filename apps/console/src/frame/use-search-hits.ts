import { useMemo } from 'react';
import { modelsQuery } from '../api/models.ts';
import { useApi, useUser } from '../api/use-api.ts';
import { useQuery } from '../api/use-query.ts';
import { useLanguage } from '../preferences/language.tsx';
import { matching } from '../ui/matching.ts';
import { CREATE_HASH } from '../ui/use-creating.ts';
import { useSettled } from '../ui/use-settled.ts';
import { ACCOUNT_PAGE, NAVIGATION } from './navigation.ts';

/** Something that was found, and where it is. */
export interface Hit {
  readonly id: string;
  readonly label: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly hash?: string;
}

/** What was found of one kind. */
export interface HitGroup {
  readonly value: string;
  readonly items: readonly Hit[];
}

const SHOWN_MAX = 20;
const REQUEST_ID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/i;

/** What has the text in its name, of all that the viewer may see. */
export function useSearchHits(text: string): readonly HitGroup[] {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const models = useQuery(modelsQuery(api)).data;
  const keys = useQuery(api.query('keys.list')).data;
  const groups = useQuery(api.query('group.list')).data;
  const backends = useQuery({ ...api.query('backends.list'), enabled: isAdmin }).data;
  const people = usePeople(text);
  const all = useMemo((): readonly HitGroup[] => {
    const pages = [...NAVIGATION.flatMap(({ items }) => items), ACCOUNT_PAGE].filter(
      ({ isForAdmins = false }) => isAdmin || !isForAdmins,
    );
    return [
      {
        value: t('frame.search.pages'),
        items: pages.map((item) => ({ id: `page ${item.to}`, label: t(item.text), to: item.to })),
      },
      {
        value: t('frame.search.actions'),
        items: pages.flatMap(({ to, action }) =>
          action === undefined
            ? []
            : { id: `action ${to}`, label: t(action), to, hash: CREATE_HASH },
        ),
      },
      {
        value: t('models.title'),
        items: (models ?? []).map(({ id }) => ({
          id: `model ${id}`,
          label: id,
          to: '/playground',
          search: { model: id },
        })),
      },
      {
        value: t('keys.title'),
        items: (keys ?? []).map(({ id, name, key_hint: hint }) => ({
          id: `key ${id}`,
          label: `${name} (${hint})`,
          to: '/keys',
          search: { find: hint },
        })),
      },
      {
        value: t('backends.title'),
        items: (backends ?? []).map(({ name }) => ({
          id: `backend ${name}`,
          label: name,
          to: '/backends',
          hash: `backend-${name}`,
        })),
      },
      {
        value: t('groups.title'),
        items: (groups ?? []).map(({ id, name }) => ({
          id: `group ${id}`,
          label: name,
          to: '/groups',
          search: { group: id },
        })),
      },
      {
        value: t('people.title'),
        items: people.map(({ id, name, email }) => ({
          id: `person ${id}`,
          label: name === '' ? email : `${name} (${email})`,
          to: '/people',
          search: { find: email },
        })),
      },
    ];
  }, [t, isAdmin, models, keys, backends, groups, people]);
  return useMemo(() => {
    const found = all.map(({ value, items }) => ({
      value,
      items: matching(items, text, { nameOf: ({ label }) => label, max: SHOWN_MAX }),
    }));
    const request = REQUEST_ID.exec(text)?.[0].toLowerCase();
    const requests =
      request === undefined
        ? []
        : [{ id: `request ${request}`, label: request, to: '/requests', search: { request } }];
    return [{ value: t('requests.title'), items: requests }, ...found].filter(
      ({ items }) => items.length > 0,
    );
  }, [t, all, text]);
}

interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

const NOBODY: readonly Person[] = [];

/** The service searches them: there may be too many to load all. */
function usePeople(text: string): readonly Person[] {
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const search = useSettled(text.trim());
  const isAsked = isAdmin && search !== '';
  const found = useQuery({
    queryKey: ['users.list', 'search', search],
    queryFn: ({ signal }) => api.call('users.list', { search, limit: SHOWN_MAX }, { signal }),
    enabled: isAsked,
  }).data;
  return isAsked ? (found?.users ?? NOBODY) : NOBODY;
}
