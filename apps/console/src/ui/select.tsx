import { Select as BaseSelect } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import { lazy, Suspense, type ReactNode } from 'react';

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  /** A second line in the list, made when the list shows it. */
  readonly detail?: (() => string) | undefined;
}

export interface SelectProps<Value extends string> {
  readonly label: string;
  /** Whether the label is only for screen readers. */
  readonly isLabelHidden?: boolean;
  readonly hint?: string | undefined;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
  readonly isDisabled?: boolean;
}

/** A list of more choices than these can be searched. */
const CHOICES_MAX = 20;

/** Few pages have such a list, and its code is large. */
const SelectSearch = lazy(async () => ({
  default: (await import('./select-search.tsx')).SelectSearch,
})) as unknown as <Value extends string>(props: SelectProps<Value>) => ReactNode;

/** One of several values. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  return props.choices.length > CHOICES_MAX ? (
    <Suspense fallback={<SelectList {...props} />}>
      <SelectSearch {...props} />
    </Suspense>
  ) : (
    <SelectList {...props} />
  );
}

function SelectList<Value extends string>(props: SelectProps<Value>) {
  const { label, isLabelHidden = false, hint, value, choices, onChange } = props;
  return (
    <BaseSelect.Root
      items={choices.map((choice) => ({ value: choice.value, label: choice.label }))}
      value={value}
      onValueChange={(next) => {
        if (next !== null) onChange(next);
      }}
      disabled={props.isDisabled ?? false}
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
        {hint === undefined ? null : <p className="field-hint">{hint}</p>}
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
