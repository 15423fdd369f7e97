import { Combobox } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown } from 'lucide-react';
import { useId, useMemo, useState } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { matching } from './matching.ts';
import type { Choice, SelectProps } from './select.tsx';

const SHOWN_MAX = 20;

/** A select of many values: its list can be searched. */
export function SelectSearch<Value extends string>(props: SelectProps<Value>) {
  const { label, isLabelHidden = false, hint, value, choices, onChange } = props;
  const { t } = useLanguage();
  const id = useId();
  const [text, setText] = useState('');
  const shown = useMemo(
    () => matching(choices, text, { nameOf: (choice) => choice.label, max: SHOWN_MAX }),
    [choices, text],
  );
  const chosen = choices.find((choice) => choice.value === value) ?? null;
  return (
    <Combobox.Root
      items={shown}
      filter={null}
      value={chosen}
      isItemEqualToValue={(one: Choice<Value>, other: Choice<Value>) => one.value === other.value}
      onValueChange={(next: Choice<Value> | null) => {
        if (next !== null) onChange(next.value);
      }}
      onInputValueChange={setText}
      onOpenChange={(isOpen) => {
        if (!isOpen) setText('');
      }}
      disabled={props.isDisabled ?? false}
    >
      <div className="field">
        <span id={id} className={isLabelHidden ? 'visually-hidden' : 'field-label'}>
          {label}
        </span>
        <Combobox.Trigger className="input select" aria-labelledby={id}>
          <span className="select-value">{chosen?.label}</span>
          <Combobox.Icon className="select-icon">
            <ChevronsUpDown aria-hidden size={14} />
          </Combobox.Icon>
        </Combobox.Trigger>
        {hint === undefined ? null : <p className="field-hint">{hint}</p>}
      </div>
      <Combobox.Portal>
        <Combobox.Positioner className="layer" sideOffset={4}>
          <Combobox.Popup className="popup popup-search" aria-label={label}>
            <Combobox.Input
              className="input"
              aria-label={t('select.search', { name: label })}
              placeholder={t('select.search.placeholder')}
            />
            <Combobox.Empty className="search-empty">{t('select.none')}</Combobox.Empty>
            <Combobox.List className="popup-list">
              {(choice: Choice<Value>) => (
                <Combobox.Item key={choice.value} value={choice} className="item">
                  <span className="item-body">
                    {choice.label}
                    {choice.detail === undefined ? null : (
                      <small className="item-detail">{choice.detail()}</small>
                    )}
                  </span>
                  <Combobox.ItemIndicator className="item-mark">
                    <Check aria-hidden size={14} />
                  </Combobox.ItemIndicator>
                </Combobox.Item>
              )}
            </Combobox.List>
            {shown.length === SHOWN_MAX ? (
              <p className="popup-title">{t('select.more', { count: SHOWN_MAX })}</p>
            ) : null}
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
