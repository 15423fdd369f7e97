import { TextField } from './field.tsx';
import { afterPause, useAddressText } from './use-address-text.ts';

interface SearchFieldProps {
  readonly label: string;
  readonly hint?: string;
  /** The text in the address. */
  readonly value: string;
  readonly onChange: (text: string) => Promise<unknown>;
}

/** What a page is searched for, which is in its address. */
export function SearchField({ label, hint, value, onChange }: SearchFieldProps) {
  const [text, setText] = useAddressText(value, onChange, afterPause);
  return (
    <TextField
      label={label}
      {...(hint === undefined ? {} : { hint })}
      type="search"
      value={text}
      onValueChange={(next) => setText(next)}
    />
  );
}
