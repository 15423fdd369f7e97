const ANYTHING = '…';

/** What of the shown output is missing in the real one; undefined when nothing is. `…` stands for anything. */
export function missingOutput(shown: string, language: string, actual: string): string | undefined {
  return language === 'json' ? missingJson(shown, actual) : missingLine(shown, actual);
}

/** The first shown line that does not come, in the order in which they are shown. */
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

/** Whether one of the JSON texts that were printed has everything that is shown; more is fine. */
function missingJson(shown: string, actual: string): string | undefined {
  const wanted: unknown = JSON.parse(shown);
  const isThere = [actual, ...actual.split('\n')].some((text) => {
    try {
      return contains(JSON.parse(text), wanted);
    } catch {
      return false;
    }
  });
  return isThere ? undefined : shown;
}

function contains(actual: unknown, wanted: unknown): boolean {
  if (wanted === ANYTHING) return actual !== undefined;
  if (typeof wanted === 'string') {
    return typeof actual === 'string' && patternOf(wanted).test(actual);
  }
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) &&
      wanted.every(
        (item, index) =>
          contains(actual[index], item) || actual.some((other) => contains(other, item)),
      )
    );
  }
  if (typeof wanted !== 'object' || wanted === null) return Object.is(actual, wanted);
  return (
    typeof actual === 'object' &&
    actual !== null &&
    Object.entries(wanted).every(([name, value]) => contains(Reflect.get(actual, name), value))
  );
}

function patternOf(text: string): RegExp {
  const parts = text.split(ANYTHING).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
