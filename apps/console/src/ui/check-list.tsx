import { useId } from 'react';

interface CheckListProps<Value extends string> {
  readonly label: string;
  readonly hint?: string;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly chosen: readonly Value[];
  readonly onChange: (chosen: Value[]) => void;
  /** What is wrong with the choice. */
  readonly problem?: string | undefined;
}

/** Any number of a few values. */
export function CheckList<Value extends string>(props: CheckListProps<Value>) {
  const { label, hint, choices, chosen, onChange, problem } = props;
  const id = useId();
  return (
    <fieldset className="checks" {...(hint === undefined ? {} : { 'aria-describedby': id })}>
      <legend className="field-label">{label}</legend>
      <div className="checks-items">
        {choices.map((choice) => (
          <label key={choice.value} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(choice.value)}
              onChange={({ currentTarget: { checked } }) =>
                onChange(
                  choices
                    .map(({ value }) => value)
                    .filter((value) => (value === choice.value ? checked : chosen.includes(value))),
                )
              }
            />
            {choice.label}
          </label>
        ))}
      </div>
      {hint === undefined ? null : (
        <p id={id} className="field-hint">
          {hint}
        </p>
      )}
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}
