import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { modelsQuery } from '../api/models.ts';
import { useApi, useUser } from '../api/use-api.ts';
import { useQuery } from '../api/use-query.ts';
import { useLanguage } from '../preferences/language.tsx';
import { matching } from '../ui/matching.ts';
import { ACCOUNT_PAGE, NAVIGATION } from './navigation.ts';

interface Hit {
  readonly id: string;
  readonly label: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

interface HitGroup {
  readonly value: string;
  readonly items: readonly Hit[];
}

const SHOWN_MAX = 20;
const REQUEST_ID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/i;

/** Finds pages, models and keys by their names, and requests by their ids (Ctrl-K). */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const groups = useHits(text);
  const choose = ({ to, search }: Hit): void => {
    onClose();
    void navigate({ to, search: search ?? {} } as never);
  };
  return (
    <BaseDialog.Root
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" />
        <BaseDialog.Popup className="dialog search" aria-label={t('frame.search')}>
          <Autocomplete.Root
            inline
            open
            items={groups}
            filter={null}
            value={text}
            onValueChange={setText}
            autoHighlight="always"
            itemToStringValue={(hit: Hit) => hit.label}
          >
            <Autocomplete.Input
              className="input"
              aria-label={t('frame.search')}
              placeholder={t('frame.search.placeholder')}
            />
            <Autocomplete.Empty className="search-empty">
              <Autocomplete.Value>
                {(query: string) => (query === '' ? null : t('frame.search.empty', { query }))}
              </Autocomplete.Value>
            </Autocomplete.Empty>
            <Autocomplete.List className="search-list">
              {(group: HitGroup) => (
                <Autocomplete.Group key={group.value} items={group.items as Hit[]}>
                  <Autocomplete.GroupLabel className="popup-title">
                    {group.value}
                  </Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(hit: Hit) => (
                      <Autocomplete.Item
                        key={hit.id}
                        value={hit}
                        className="item"
                        onClick={() => choose(hit)}
                      >
                        {hit.label}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

function useHits(text: string): readonly HitGroup[] {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const models = useQuery(modelsQuery(api)).data;
  const keys = useQuery(api.query('keys.list')).data;
  const all = useMemo((): readonly HitGroup[] => {
    const pages = [...NAVIGATION.flatMap(({ items }) => items), ACCOUNT_PAGE]
      .filter(({ isForAdmins = false }) => isAdmin || !isForAdmins)
      .map((item) => ({ id: `page ${item.to}`, label: t(item.text), to: item.to }));
    return [
      { value: t('frame.search.pages'), items: pages },
      {
        value: t('frame.search.models'),
        items: (models ?? []).map(({ id }) => ({
          id: `model ${id}`,
          label: id,
          to: '/playground',
          search: { model: id },
        })),
      },
      {
        value: t('frame.search.keys'),
        items: (keys ?? []).map(({ id, name, key_hint: hint }) => ({
          id: `key ${id}`,
          label: `${name} (${hint})`,
          to: '/keys',
          search: { find: hint },
        })),
      },
    ];
  }, [t, isAdmin, models, keys]);
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
    return [{ value: t('frame.search.requests'), items: requests }, ...found].filter(
      ({ items }) => items.length > 0,
    );
  }, [t, all, text]);
}
