/** The names of what is left out, for a header. */
export interface Ignored {
  add(name: string): void;
  list(): readonly string[];
}

/** A request can have many unknown fields, and a header is short. */
const NAMES_MAX = 40;
const SAFE_NAME = /^[\w.-]{1,64}$/;

export function createIgnored(): Ignored {
  const names = new Set<string>();
  return {
    add(name) {
      names.add(SAFE_NAME.test(name) ? name : 'unknown-field');
    },
    list() {
      const all = [...names];
      if (all.length <= NAMES_MAX) return all;
      return [...all.slice(0, NAMES_MAX), `and-${all.length - NAMES_MAX}-more`];
    },
  };
}
