import { useId, useMemo, useState, type ComponentProps } from 'react';
import { TextField } from './field.tsx';
import { matching } from './matching.ts';

interface Suggestion {
  readonly value: string;
  /** Shown beside the value. */
  readonly label?: string;
}

interface SuggestFieldProps extends ComponentProps<typeof TextField> {
  readonly suggestions: readonly Suggestion[];
}

const SHOWN_MAX = 50;

/** A text field that suggests values while one types; others can be typed as well. */
export function SuggestField({ suggestions, onValueChange, ...field }: SuggestFieldProps) {
  const id = useId();
  const [text, setText] = useState(String(field.value ?? field.defaultValue ?? ''));
  const shown = useMemo(
    () =>
      matching(suggestions, text, {
        nameOf: ({ value, label = '' }) => `${value} ${label}`,
        max: SHOWN_MAX,
      }),
    [suggestions, text],
  );
  return (
    <>
      <TextField
        {...field}
        list={id}
        onValueChange={(value, details) => {
          setText(value);
          onValueChange?.(value, details);
        }}
      />
      <datalist id={id}>
        {shown.map(({ value, label }) => (
          <option key={value} value={value} {...(label === undefined ? {} : { label })} />
        ))}
      </datalist>
    </>
  );
}
