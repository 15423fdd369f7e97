import type { Environment } from '@model-gateway/kernel';

/** `$${` is `${` itself. A reference without an end takes the rest of the text, so that the rest is read once. */
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/** A text with the values of its variables. */
export interface Substituted {
  readonly text: string;
  /** Whether there was a variable in it. */
  readonly isSubstituted: boolean;
  /** Never contains a value. */
  readonly problems: readonly string[];
}

/**
 * Replaces `${NAME}` and `${NAME:-default}`. A default also takes the place of an empty value, as in a shell. Stops replacing
 * once the values are longer than `charsMax`.
 */
export function substitute(text: string, environment: Environment, charsMax: number): Substituted {
  const problems: string[] = [];
  let isSubstituted = false;
  let chars = 0;
  const replaced = text.replaceAll(REFERENCE, (found: string, reference?: string, end?: string) => {
    if (reference === undefined) return '${';
    if (end === '') return found.replaceAll('$${', '${');
    if (chars > charsMax) return found;
    isSubstituted = true;
    const parsed = VARIABLE.exec(reference);
    // A default ends at the first brace, so that another variable in it would be cut.
    if (parsed === null || parsed[2]?.includes('${') === true) {
      problems.push('has a ${…} that is neither ${NAME} nor ${NAME:-default}');
      return found;
    }
    const [, name = '', fallback] = parsed;
    const value = environment[name];
    chars += value?.length ?? 0;
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value === undefined) {
      problems.push(`needs the environment variable ${name}, which is not set`);
      return found;
    }
    return value;
  });
  return { text: replaced, isSubstituted, problems };
}
