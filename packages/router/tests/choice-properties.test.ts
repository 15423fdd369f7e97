import { array, assert, boolean, constantFrom, double, nat, property, record } from 'fast-check';
import type { Candidate } from '../src/choice/choice.ts';
import { pickCandidate, type TargetName } from '../src/choice/ruled-choice.ts';
import { usableOf, type ChoiceFacts } from '../src/choice/usable.ts';
import type { BackendEntry } from '../src/registry/backend-list.ts';

// The choice is a pure function of the candidates, the policy, the time and one random number.

const RUNS = process.env['TEST_FULL'] === '1' ? 2_000 : 200;
const REQUESTS = 600;
/** Its multiples are spread evenly over 0 to 1. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

/** A backend in one state; times are in milliseconds. */
interface State {
  readonly isHealthy: boolean;
  readonly openUntil: number;
  readonly coolsUntil: number;
  readonly isKeyRefused: boolean;
  readonly priority: number;
  readonly weight: number;
  readonly requests: number;
}

const state = record<State>({
  isHealthy: boolean(),
  openUntil: constantFrom(0, 0, 50, 150),
  coolsUntil: constantFrom(0, 0, 50, 150),
  isKeyRefused: constantFrom(false, false, false, true),
  priority: nat(2),
  weight: nat(3),
  requests: nat(10),
});
const states = array(state, { maxLength: 8 });
const random = double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const moment = constantFrom(0, 100, 200);

const nameOf = (index: number): string => `backend-${index}`;
const indexOf = (name: string): number => Number(name.slice('backend-'.length));

function candidatesOf(all: readonly State[], isRouted: boolean): readonly Candidate[] {
  return all.map(({ isHealthy, priority, weight }, index): Candidate => {
    const entry = {
      backend: { name: nameOf(index), kind: 'external' },
      report: { state: isHealthy ? 'Healthy' : 'Unhealthy' },
    } as unknown as BackendEntry;
    const target = { model: 'm', backend: nameOf(index), priority, weight };
    return { entry, model: 'm', ...(isRouted ? { target } : {}) };
  });
}

function factsOf(all: readonly State[], now: number): ChoiceFacts {
  const of = (name: string): State | undefined => all[indexOf(name)];
  return {
    permits: (name) => (of(name)?.openUntil ?? 0) <= now,
    hasNoRefusals: () => false,
    coolingMs: (name) => Math.max(0, (of(name)?.coolsUntil ?? 0) - now),
    isKeyRefused: (name) => of(name)?.isKeyRefused === true,
  };
}

interface Choice {
  readonly all: readonly State[];
  readonly isRouted: boolean;
  readonly now: number;
  readonly random: number;
}

const choice = record<Choice>({ all: states, isRouted: boolean(), now: moment, random });

function choose(
  { all, now, random: drawn }: Choice,
  candidates: readonly Candidate[],
  tried: readonly TargetName[],
): Candidate | undefined {
  const counts = { of: (name: string) => all[indexOf(name)]?.requests ?? 0 };
  const usable = usableOf(candidates, tried, factsOf(all, now));
  return pickCandidate(usable, {
    counts,
    provider: undefined,
    firstTokens: { medianMs: () => undefined },
    random: drawn,
  });
}

/** Everything that a request which fails everywhere is sent to. */
function walk(asked: Choice, candidates: readonly Candidate[]): readonly Candidate[] {
  const tried: Candidate[] = [];
  for (;;) {
    const names = tried.map(({ entry, model }) => ({ backend: entry.backend.name, model }));
    const next = choose(asked, candidates, names);
    if (next === undefined) return tried;
    tried.push(next);
    if (tried.length > candidates.length) throw new Error('the walk does not end');
  }
}

const isUp = ({ isHealthy, openUntil, coolsUntil }: State, now: number): boolean =>
  isHealthy && openUntil <= now && coolsUntil <= now;

test('no target is tried twice, and every target that is up is tried', () => {
  assert(
    property(choice, (asked) => {
      const tried = walk(asked, candidatesOf(asked.all, asked.isRouted));
      const names = tried.map(({ entry }) => entry.backend.name);
      expect(new Set(names).size).toBe(names.length);
      const up = asked.all.flatMap((one, at) => (isUp(one, asked.now) ? [nameOf(at)] : []));
      expect(names.toSorted()).toEqual(up.toSorted());
    }),
    { numRuns: RUNS },
  );
});

test('a priority is never skipped while a target of a lower number is up', () => {
  assert(
    property(choice, (asked) => {
      const tried = walk({ ...asked, isRouted: true }, candidatesOf(asked.all, true));
      const isRefused = ({ entry }: Candidate): boolean =>
        asked.all[indexOf(entry.backend.name)]?.isKeyRefused === true;
      // A target whose key is refused is used only when there is no other.
      const trusted = tried.filter((one) => !isRefused(one));
      const refused = tried.filter(isRefused);
      expect(tried).toEqual([...trusted, ...refused]);
      for (const group of [trusted, refused]) {
        const priorities = group.map(({ target }) => target?.priority ?? 0);
        expect(priorities).toEqual(priorities.toSorted((one, other) => one - other));
      }
    }),
    { numRuns: RUNS },
  );
});

test('the same candidates, policy, time and random number give the same choice, and nothing is changed', () => {
  assert(
    property(choice, (asked) => {
      const candidates = candidatesOf(asked.all, asked.isRouted);
      const before = JSON.stringify([asked, candidates]);
      const first = choose(asked, candidates, []);
      expect(choose(asked, candidates, [])).toBe(first);
      expect(JSON.stringify([asked, candidates])).toBe(before);
      // Without a route, the random number decides nothing.
      const plain = candidatesOf(asked.all, false);
      expect(choose({ ...asked, random: 0 }, plain, [])).toBe(choose(asked, plain, []));
    }),
    { numRuns: RUNS },
  );
});

test('weights are met within 10 %', () => {
  const upState = {
    isHealthy: true,
    openUntil: 0,
    coolsUntil: 0,
    isKeyRefused: false,
    priority: 0,
    requests: 0,
  };
  const weights = array(nat(2), { minLength: 2, maxLength: 3 });
  assert(
    property(weights, random, (drawn, offset) => {
      const all = drawn.map((more): State => ({ ...upState, weight: more + 1 }));
      expectShares(all, offset);
    }),
    { numRuns: RUNS / 10 },
  );
  expectShares(
    [
      { ...upState, weight: 3 },
      { ...upState, weight: 1 },
    ],
    0,
  );
});

function expectShares(all: readonly State[], offset: number): void {
  const candidates = candidatesOf(all, true);
  const counts = all.map(() => 0);
  for (let request = 0; request < REQUESTS; request += 1) {
    const drawn = (offset + request * GOLDEN_RATIO) % 1;
    const chosen = choose({ all, isRouted: true, now: 0, random: drawn }, candidates, []);
    const at = indexOf(chosen?.entry.backend.name ?? '');
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  for (const [at, { weight }] of all.entries()) {
    const expected = (REQUESTS * weight) / total;
    expect(Math.abs((counts[at] ?? 0) - expected)).toBeLessThanOrEqual(expected / 10);
  }
}
