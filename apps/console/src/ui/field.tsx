import { Field } from '@base-ui/react/field';
import type { ComponentProps, ReactElement } from 'react';

interface TextFieldProps extends Omit<
  ComponentProps<typeof Field.Control>,
  'className' | 'render'
> {
  readonly label: string;
  /** Whether the label is only for screen readers. */
  readonly isLabelHidden?: boolean;
  readonly hint?: string | undefined;
  /** What is wrong with the value. It takes the place of the hint. */
  readonly problem?: string | undefined;
  /** A textarea instead of an input. */
  readonly render?: ReactElement;
}

/** An input with its label, and a hint or what is wrong with it. */
export function TextField(props: TextFieldProps) {
  const { label, isLabelHidden = false, hint, problem, render, ...control } = props;
  return (
    <Field.Root className="field" invalid={problem !== undefined}>
      <Field.Label className={isLabelHidden ? 'visually-hidden' : 'field-label'}>
        {label}
      </Field.Label>
      <Field.Control className="input" {...(render === undefined ? {} : { render })} {...control} />
      {hint === undefined || problem !== undefined ? null : (
        <Field.Description className="field-hint">{hint}</Field.Description>
      )}
      <Field.Error className="field-problem" match={problem !== undefined}>
        {problem}
      </Field.Error>
    </Field.Root>
  );
}
