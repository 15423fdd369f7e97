import { Select as BaseSelect } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import type { SelectProps } from './select.tsx';

/** The select with its list, which is open at first. */
export function SelectList<Value extends string>(props: SelectProps<Value>) {
  const { label, isLabelHidden = false, value, choices, onChange, isDisabled = false } = props;
  return (
    <BaseSelect.Root
      defaultOpen
      items={choices.map((choice) => ({ value: choice.value, label: choice.label }))}
      value={value}
      onValueChange={(next) => {
        if (next !== null) onChange(next);
      }}
      disabled={isDisabled}
      modal={false}
    >
      <div className="field">
        <BaseSelect.Label className={isLabelHidden ? 'visually-hidden' : 'field-label'}>
          {label}
        </BaseSelect.Label>
        <BaseSelect.Trigger className="input select">
          <BaseSelect.Value className="select-value" />
          <BaseSelect.Icon className="select-icon">
            <ChevronsUpDown aria-hidden size={14} />
          </BaseSelect.Icon>
        </BaseSelect.Trigger>
      </div>
      <BaseSelect.Portal>
        <BaseSelect.Positioner className="layer" sideOffset={4} alignItemWithTrigger={false}>
          <BaseSelect.Popup className="popup">
            <BaseSelect.List>
              {choices.map((choice) => (
                <BaseSelect.Item key={choice.value} value={choice.value} className="item">
                  <span className="item-body">
                    <BaseSelect.ItemText>{choice.label}</BaseSelect.ItemText>
                    {choice.detail === undefined ? null : (
                      <small className="item-detail">{choice.detail()}</small>
                    )}
                  </span>
                  <BaseSelect.ItemIndicator className="item-mark">
                    <Check aria-hidden size={14} />
                  </BaseSelect.ItemIndicator>
                </BaseSelect.Item>
              ))}
            </BaseSelect.List>
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  );
}
