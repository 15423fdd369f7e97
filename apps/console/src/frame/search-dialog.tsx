import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { useSearchHits, type Hit, type HitGroup } from './use-search-hits.ts';

/** Finds pages, actions and what has a name, and requests by their ids (Ctrl-K). */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const groups = useSearchHits(text);
  const choose = ({ to, search, hash }: Hit): void => {
    onClose();
    void navigate({ to, search: search ?? {}, hash } as never);
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
