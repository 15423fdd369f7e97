import type { SpendFilter } from '@model-gateway/billing';
import { newId } from '@model-gateway/kernel';
import * as fc from 'fast-check';

/** What is counted of a row. */
export interface Row {
  readonly id: string;
  readonly createdAt: Date;
  readonly userId: string;
  readonly keyId: string | null;
  readonly groupId: string | null;
  readonly project: string | null;
  readonly model: string;
  readonly upstream: string | null;
  readonly status: number | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number | null;
  /** In steps that add up exactly; null without a price. */
  readonly cost: number | null;
  readonly points: number | null;
  /** How many failed requests it stands for; none for a metered request. */
  readonly repeats: number;
}

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
// Across the end of a month, so that rows lie in more than one partition.
export const START_MS = Date.UTC(2025, 1, 26);
export const DAYS = 5;
const USERS = [newId(), newId(), newId()];
const KEYS = [newId(), newId(), newId()];
const GROUPS = [newId(), newId()];

const moment = fc
  .tuple(
    fc.integer({ min: 0, max: DAYS - 1 }),
    fc.constantFrom(
      0,
      1,
      HOUR_MS - 1,
      HOUR_MS,
      1.5 * HOUR_MS,
      12 * HOUR_MS,
      16 * HOUR_MS,
      19.5 * HOUR_MS,
      DAY_MS - 1,
    ),
  )
  .map(([day, offset]) => new Date(START_MS + day * DAY_MS + offset));

const metered: fc.Arbitrary<Row> = fc.record({
  id: fc.uuid(),
  createdAt: moment,
  userId: fc.constantFrom(...USERS),
  keyId: fc.option(fc.constantFrom(...KEYS)),
  groupId: fc.option(fc.constantFrom(...GROUPS)),
  project: fc.option(fc.constantFrom('default', 'shop', '=1+1')),
  model: fc.constantFrom('gpt-4o', 'demo-chat', 'ärger'),
  upstream: fc.option(fc.constantFrom('one', 'two')),
  status: fc.option(fc.constantFrom(200, 399, 400, 499, 502)),
  promptTokens: fc.integer({ min: 0, max: 20 }),
  completionTokens: fc.integer({ min: 0, max: 3 }),
  cachedTokens: fc.option(fc.integer({ min: 0, max: 5 })),
  cost: fc.option(fc.integer({ min: 0, max: 64 }).map((steps) => steps / 64)),
  points: fc.option(fc.integer({ min: 0, max: 9 })),
  repeats: fc.constant(0),
});

const failed: fc.Arbitrary<Row> = fc
  .tuple(metered, fc.integer({ min: 1, max: 3 }), fc.constantFrom(400, 429, 499))
  .map(([each, repeats, status]) => ({
    ...each,
    repeats,
    status,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: null,
    cost: null,
    points: null,
  }));

export const row = fc.oneof({ weight: 3, arbitrary: metered }, { weight: 1, arbitrary: failed });

export const sometimes = <Value>(...values: readonly Value[]): fc.Arbitrary<Value | undefined> =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });

export const filter: fc.Arbitrary<SpendFilter> = fc.record({
  since: moment,
  until: moment,
  userId: sometimes(...USERS),
  keyId: sometimes(...KEYS),
  groupId: sometimes(...GROUPS),
  project: sometimes('default', 'shop'),
  model: sometimes('gpt-4o', 'ärger'),
  upstream: sometimes('one', 'two'),
});
