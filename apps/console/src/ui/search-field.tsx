import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useSettled } from './use-settled.ts';

interface SearchFieldProps {
  readonly label: string;
  readonly hint?: string;
  /** The text in the address. */
  readonly value: string;
  readonly onChange: (text: string) => Promise<unknown>;
}

/** What a page is searched for, which is in its address. */
export function SearchField({ label, hint, value, onChange }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const settled = useSettled(text);
  const latest = useRef({ value, onChange });
  useEffect(() => {
    latest.current = { value, onChange };
  });
  // The address may also change otherwise, as by a link.
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (settled !== latest.current.value) void latest.current.onChange(settled);
  }, [settled]);
  return (
    <div className="field">
      <div className="input-frame input-search">
        <Search aria-hidden size={14} />
        <input
          className="input"
          type="search"
          aria-label={label}
          placeholder={label}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </div>
      {hint === undefined ? null : <p className="field-hint">{hint}</p>}
    </div>
  );
}
