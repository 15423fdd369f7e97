import { array, assert, boolean, constantFrom, double, nat, property, record } from 'fast-check';
import type { Candidate } from '../src/choice/choice.ts';
import { consider, rank, type ChoiceFacts } from '../src/choice/rank.ts';
import type { BackendEntry } from '../src/registry/backend-list.ts';
import { DEFAULT_RETRIES, type RouteRule } from '../src/routes/route-rule.ts';

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

const entriesOf = (all: readonly State[]): readonly BackendEntry[] =>
  all.map(
    ({ isHealthy }, index) =>
      ({
        backend: { name: nameOf(index), kind: 'external' },
        report: { state: isHealthy ? 'Healthy' : 'Unhealthy' },
        models: new Set(['m']),
        lacks: () => false,
      }) as unknown as BackendEntry,
  );

function ruleOf(all: readonly State[]): RouteRule {
  const targets = all.map(({ priority, weight }, index) => {
    return { model: 'm', backend: nameOf(index), priority, weight };
  });
  return { ...DEFAULT_RETRIES, model: 'm', targets };
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

/** The targets in order of preference, with what keeps them from serving. */
function ranked(
  { all, isRouted, now, random: drawn }: Choice,
  entries = entriesOf(all),
): readonly Candidate[] {
  const rule = isRouted ? ruleOf(all) : undefined;
  const facts = factsOf(all, now);
  const considered = consider(entries, { requested: 'm', model: 'm', rule }, [], facts);
  const policy = {
    counts: { of: (name: string) => all[indexOf(name)]?.requests ?? 0 },
    provider: undefined,
    firstTokens: { medianMs: () => undefined },
    draw: () => drawn,
  };
  return [...rank(considered, facts, policy)];
}

/** Everything that a request which fails everywhere is sent to. */
const walk = (asked: Choice): readonly Candidate[] =>
  ranked(asked).filter(({ obstacle }) => obstacle === undefined);

const choose = (asked: Choice): Candidate | undefined => walk(asked)[0];

const isUp = ({ isHealthy, openUntil, coolsUntil }: State, now: number): boolean =>
  isHealthy && openUntil <= now && coolsUntil <= now;

test('no target is tried twice, and every target that is up is tried', () => {
  assert(
    property(choice, (asked) => {
      const tried = walk(asked);
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
      const tried = walk({ ...asked, isRouted: true });
      const isRefused = ({ entry }: Candidate): boolean =>
        asked.all[indexOf(entry.backend.name)]?.isKeyRefused === true;
      // A target whose key is refused is used only when there is no other.
      const trusted = tried.filter((one) => !isRefused(one));
      const refused = tried.filter(isRefused);
      expect(tried).toEqual([...trusted, ...refused]);
      for (const group of [trusted, refused]) {
        const priorities = group.map(({ routed }) => routed?.priority ?? 0);
        expect(priorities).toEqual(priorities.toSorted((one, other) => one - other));
      }
    }),
    { numRuns: RUNS },
  );
});

test('every target is ranked once, and those that cannot serve come last', () => {
  assert(
    property(choice, (asked) => {
      const all = ranked(asked);
      const names = all.map(({ entry }) => entry.backend.name);
      expect(names.toSorted()).toEqual(asked.all.map((_one, at) => nameOf(at)).toSorted());
      const firstObstacle = all.findIndex(({ obstacle }) => obstacle !== undefined);
      const last = firstObstacle === -1 ? [] : all.slice(firstObstacle);
      expect(last.every(({ obstacle }) => obstacle !== undefined)).toBe(true);
    }),
    { numRuns: RUNS },
  );
});

test('the same candidates, policy, time and random number give the same choice, and nothing is changed', () => {
  assert(
    property(choice, (asked) => {
      const entries = entriesOf(asked.all);
      const before = JSON.stringify([asked, entries]);
      expect(ranked(asked, entries)).toEqual(ranked(asked, entries));
      expect(JSON.stringify([asked, entries])).toBe(before);
      // Without a route, the random number decides nothing.
      const plain = { ...asked, isRouted: false };
      expect(ranked({ ...plain, random: 0 }, entries)).toEqual(ranked(plain, entries));
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
  const counts = all.map(() => 0);
  for (let request = 0; request < REQUESTS; request += 1) {
    const drawn = (offset + request * GOLDEN_RATIO) % 1;
    const chosen = choose({ all, isRouted: true, now: 0, random: drawn });
    const at = indexOf(chosen?.entry.backend.name ?? '');
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  for (const [at, { weight }] of all.entries()) {
    const expected = (REQUESTS * weight) / total;
    expect(Math.abs((counts[at] ?? 0) - expected)).toBeLessThanOrEqual(expected / 10);
  }
}
