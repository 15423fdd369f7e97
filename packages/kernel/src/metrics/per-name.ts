const OTHER = 'other';

/**
 * Creates one value for each of the first `namesMax` names; all further names share one. It bounds the label values of
 * a metric.
 */
export function perName<Value>(
  namesMax: number,
  make: (name: string) => Value,
): (name: string) => Value {
  const known = new Map<string, Value>();
  let rest: Value | undefined;
  return (name) => {
    const existing = known.get(name);
    if (existing !== undefined) return existing;
    if (known.size >= namesMax) return (rest ??= known.get(OTHER) ?? make(OTHER));
    const made = make(name);
    known.set(name, made);
    return made;
  };
}
