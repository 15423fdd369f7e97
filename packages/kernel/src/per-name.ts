const OTHER = 'other';

/**
 * Something kept for each of a bounded number of names, in the order in which they turned up; the names after that share one.
 * For label values that are few in an ordinary installation and must stay so in any other.
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
