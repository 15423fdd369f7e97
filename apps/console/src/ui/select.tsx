import { ChevronsUpDown } from 'lucide-react';
import { lazy, Suspense, useId, useState, type ReactNode } from 'react';

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
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
  readonly isDisabled?: boolean;
}

type OpenSelect = <Value extends string>(props: SelectProps<Value>) => ReactNode;

const loadList = () => import('./select-list.tsx');
const loadSearch = () => import('./select-search.tsx');
const SelectList = lazy(async () => ({
  default: (await loadList()).SelectList,
})) as unknown as OpenSelect;
const SelectSearch = lazy(async () => ({
  default: (await loadSearch()).SelectSearch,
})) as unknown as OpenSelect;

/** A list of more choices than these can be searched. */
const CHOICES_MAX = 20;

const isLong = ({ choices }: Pick<SelectProps<string>, 'choices'>): boolean =>
  choices.length > CHOICES_MAX;

/** One of several values. The code of its list is loaded when the user is about to open it. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const [isUsed, setUsed] = useState(false);
  const closed = <ClosedSelect {...props} onOpen={() => setUsed(true)} />;
  if (!isUsed) return closed;
  return (
    <Suspense fallback={closed}>
      {isLong(props) ? <SelectSearch {...props} /> : <SelectList {...props} />}
    </Suspense>
  );
}

interface ClosedSelectProps<Value extends string> extends SelectProps<Value> {
  readonly onOpen: () => void;
}

function ClosedSelect<Value extends string>(props: ClosedSelectProps<Value>) {
  const { label, isLabelHidden = false, value, choices, isDisabled = false, onOpen } = props;
  const id = useId();
  const load = (): void => void (isLong(props) ? loadSearch() : loadList());
  return (
    <div className="field">
      <span id={id} className={isLabelHidden ? 'visually-hidden' : 'field-label'}>
        {label}
      </span>
      <button
        type="button"
        className="input select"
        role="combobox"
        aria-labelledby={id}
        aria-haspopup="listbox"
        aria-expanded={false}
        disabled={isDisabled}
        onPointerEnter={load}
        onFocus={load}
        onClick={onOpen}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          onOpen();
        }}
      >
        <span className="select-value">
          {choices.find((choice) => choice.value === value)?.label}
        </span>
        <span className="select-icon">
          <ChevronsUpDown aria-hidden size={14} />
        </span>
      </button>
    </div>
  );
}
