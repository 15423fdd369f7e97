const ANYTHING = '…';

/** The part of the shown output that the real one lacks; undefined when it has everything. `…` matches anything. */
export function missingOutput(shown: string, language: string, actual: string): string | undefined {
  return language === 'json' ? missingJson(shown, actual) : missingLine(shown, actual);
}

/** The first shown line that does not occur, in the shown order. */
function missingLine(shown: string, actual: string): string | undefined {
  const lines = actual.split('\n');
  let from = 0;
  for (const line of shown.split('\n').filter((text) => text.trim() !== '')) {
    const pattern = patternOf(line.trim());
    const found = lines.findIndex((text, index) => index >= from && pattern.test(text.trim()));
    if (found === -1) return line;
    from = found + 1;
  }
  return undefined;
}

/** Whether one of the printed JSON texts contains everything that is shown; more is allowed. */
function missingJson(shown: string, actual: string): string | undefined {
  const expected: unknown = JSON.parse(shown);
  const isContained = [actual, ...actual.split('\n')].some((text) => {
    try {
      return contains(JSON.parse(text), expected);
    } catch {
      return false;
    }
  });
  return isContained ? undefined : shown;
}

function contains(actual: unknown, expected: unknown): boolean {
  if (expected === ANYTHING) return actual !== undefined;
  if (typeof expected === 'string') {
    return typeof actual === 'string' && patternOf(expected).test(actual);
  }
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      expected.every(
        (item, index) =>
          contains(actual[index], item) || actual.some((other) => contains(other, item)),
      )
    );
  }
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected);
  return (
    typeof actual === 'object' &&
    actual !== null &&
    Object.entries(expected).every(([name, value]) => contains(Reflect.get(actual, name), value))
  );
}

function patternOf(text: string): RegExp {
  const parts = text.split(ANYTHING).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
