import type { RpcInput, RpcMethodName, RpcResult } from '@model-gateway/contracts';
import { useRef, useState, type SubmitEvent } from 'react';
import { problemAt, problemsIn, problemSentence, type FormProblems } from './form-problems.ts';
import { problemOf } from './problem.ts';
import { useCall, type QueryName } from './use-api.ts';

interface RpcFormOptions<Name extends RpcMethodName> {
  /** The values at first; also those that no field changes. */
  readonly initial: Partial<RpcInput<Name>>;
  /** The queries that are asked again afterwards. */
  readonly changes?: readonly QueryName[];
  readonly onDone?: (result: RpcResult<Name>) => void;
}

type FieldName<Name extends RpcMethodName> = keyof RpcInput<Name> & string;

/** What an empty field means: it is left out, or null, which clears a value. */
interface FieldOptions {
  readonly empty?: null | undefined;
}

/** The props of a `TextField`. */
interface FieldProps {
  readonly name: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onValueChange: (text: string) => void;
}

/** A form that calls a method: its schema checks the values before they are sent, and each problem is shown at its field. */
export function useRpcForm<Name extends RpcMethodName>(
  method: Name,
  options: RpcFormOptions<Name>,
) {
  const { initial, changes = [], onDone } = options;
  const call = useCall(method, { changes });
  const element = useRef<HTMLFormElement>(null);
  const fields = useRef(new Set<string>());
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>(initial);
  // What was typed, where that is not the value itself, such as "1." on the way to a number.
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [found, setFound] = useState<FormProblems>({});
  const [isChecking, setChecking] = useState(false);
  const problems = { ...problemOf(call.error).fields, ...found };

  const change = (name: string, value: unknown, text?: string): void => {
    setValues(({ [name]: _old, ...others }) =>
      value === undefined ? others : { ...others, [name]: value },
    );
    if (text !== undefined) setTexts((all) => ({ ...all, [name]: text }));
    setFound((all) => Object.fromEntries(Object.entries(all).filter(([path]) => path !== name)));
    if (call.isError) call.reset();
  };
  const problem = (name: FieldName<Name>): string | undefined => {
    fields.current.add(name);
    const text = problemAt(problems, name);
    return text === undefined ? undefined : problemSentence(text);
  };
  const fieldOf = (
    name: FieldName<Name>,
    valueOf: (text: string) => unknown,
    { empty }: FieldOptions,
  ): FieldProps => ({
    name,
    value: texts[name] ?? textOf(values[name]),
    problem: problem(name),
    onValueChange: (text) => change(name, text.trim() === '' ? empty : valueOf(text), text),
  });

  async function submit(): Promise<void> {
    setChecking(true);
    // Without the schema the service still checks.
    const wrong = await problemsIn(method, values).catch(() => ({}));
    setChecking(false);
    setFound(wrong);
    if (Object.keys(wrong).length === 0)
      call.mutate(values as RpcInput<Name>, { onSuccess: (result) => onDone?.(result) });
    else requestAnimationFrame(() => firstInvalid(element.current)?.focus());
  }

  const isMarked = Object.keys(problems).some((path) =>
    fields.current.has(path.split('.')[0] ?? path),
  );
  return {
    values: values as Partial<RpcInput<Name>>,
    isPending: call.isPending || isChecking,
    isChanged: JSON.stringify(values) !== JSON.stringify(initial),
    /** What was thrown, unless a field shows it. */
    error: isMarked ? undefined : (call.error ?? unmarked(found)),
    result: call.data,
    problem,
    set: <Field extends FieldName<Name>>(name: Field, value: RpcInput<Name>[Field] | undefined) =>
      change(name, value),
    text: (name: FieldName<Name>, field: FieldOptions = {}): FieldProps =>
      fieldOf(name, (text) => text.trim(), field),
    number: (name: FieldName<Name>, field: FieldOptions = {}) => ({
      ...fieldOf(name, Number, field),
      inputMode: 'decimal' as const,
    }),
    /** Entries between commas, spaces and line ends. */
    list: (name: FieldName<Name>, field: FieldOptions = {}): FieldProps =>
      fieldOf(name, (text) => text.split(/[\s,]+/).filter((entry) => entry !== ''), field),
    form: {
      ref: element,
      noValidate: true,
      className: 'form',
      onSubmit: (event: SubmitEvent) => {
        event.preventDefault();
        void submit();
      },
    },
  };
}

const textOf = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : Array.isArray(value)
      ? value.join(', ')
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);

/** A problem of a value that no field shows. */
function unmarked(problems: FormProblems): Error | undefined {
  const [first] = Object.entries(problems);
  return first === undefined ? undefined : new Error(`${first[0]}: ${first[1]}`);
}

const firstInvalid = (form: HTMLFormElement | null): HTMLElement | null | undefined =>
  form?.querySelector<HTMLElement>('[aria-invalid=true], [data-invalid] input');
