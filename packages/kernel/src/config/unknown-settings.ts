import type { Environment, Settings } from './config.ts';

/** A variable that looks like a setting and is none. */
export interface UnknownSetting {
  readonly name: string;
  /** The setting that is probably meant. */
  readonly similar: string | undefined;
}

const PREFIX = 'SERVICE_';
/** How many characters may be wrong in a name. */
const DISTANCE_MAX = 3;

/** The variables that no setting reads, for a process that has all settings: one of them may be mistyped. */
export function unknownSettings(
  settings: Settings,
  environment: Environment,
): readonly UnknownSetting[] {
  const known = new Set(Object.values(settings).map(({ env }) => env));
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name))
    .toSorted()
    .map((name) => ({ name, similar: mostSimilar(name, known) }));
}

function mostSimilar(name: string, known: ReadonlySet<string>): string | undefined {
  let best: string | undefined;
  let fewest = DISTANCE_MAX + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > DISTANCE_MAX) continue;
    const wrong = distance(name, candidate);
    if (wrong >= fewest) continue;
    best = candidate;
    fewest = wrong;
  }
  return best;
}

/** How many characters have to be changed, added or removed. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [line, letter] of Array.from(one).entries()) {
    const next = [line + 1];
    for (const [at, otherLetter] of Array.from(other).entries()) {
      const changed = (row[at] ?? 0) + (letter === otherLetter ? 0 : 1);
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
