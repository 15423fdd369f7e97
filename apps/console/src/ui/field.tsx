import { Field } from '@base-ui/react/field';
import type { ComponentProps, ReactElement } from 'react';

interface TextFieldProps extends Omit<
  ComponentProps<typeof Field.Control>,
  'className' | 'render'
> {
  readonly label: string;
  readonly hint?: string | undefined;
  /** What is wrong with the value. */
  readonly problem?: string | undefined;
  /** A textarea instead of an input. */
  readonly render?: ReactElement;
}

/** An input with its label, a hint and what is wrong with it. */
export function TextField({ label, hint, problem, render, ...control }: TextFieldProps) {
  return (
    <Field.Root className="field" invalid={problem !== undefined}>
      <Field.Label className="field-label">{label}</Field.Label>
      <Field.Control className="input" {...(render === undefined ? {} : { render })} {...control} />
      {hint === undefined ? null : (
        <Field.Description className="field-hint">{hint}</Field.Description>
      )}
      <Field.Error className="field-problem" match={problem !== undefined}>
        {problem}
      </Field.Error>
    </Field.Root>
  );
}
