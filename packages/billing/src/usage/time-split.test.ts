import * as fc from 'fast-check';
import { splitTime, type TimeRange, type TimeSpan } from './time-split.ts';

const at = (text: string): Date => new Date(`2025-03-${text}Z`);
const shown = (range: TimeRange | undefined) =>
  range === undefined
    ? undefined
    : [range.since, range.until].map((moment) => moment?.toISOString().slice(8, 16));
const shownAll = (spans: readonly TimeSpan[]) => spans.map(shown);

test.each([
  { why: 'no bounds', range: {}, days: [undefined, undefined], hours: [], rest: [] },
  {
    why: 'whole days',
    range: { since: at('02T00:00'), until: at('05T00:00') },
    days: ['02T00:00', '05T00:00'],
    hours: [],
    rest: [],
  },
  {
    why: 'both ends within days, on the hour',
    range: { since: at('02T10:00'), until: at('05T11:00') },
    days: ['03T00:00', '05T00:00'],
    hours: [
      ['02T10:00', '03T00:00'],
      ['05T00:00', '05T11:00'],
    ],
    rest: [],
  },
  {
    why: 'both ends within hours',
    range: { since: at('02T10:20'), until: at('05T11:30') },
    days: ['03T00:00', '05T00:00'],
    hours: [
      ['02T11:00', '03T00:00'],
      ['05T00:00', '05T11:00'],
    ],
    rest: [
      ['02T10:20', '02T11:00'],
      ['05T11:00', '05T11:30'],
    ],
  },
  {
    why: 'parts of adjacent days',
    range: { since: at('02T23:30'), until: at('03T00:10') },
    days: undefined,
    hours: [],
    rest: [
      ['02T23:30', '03T00:00'],
      ['03T00:00', '03T00:10'],
    ],
  },
  {
    why: 'a part of one hour',
    range: { since: at('02T10:10'), until: at('02T10:20') },
    days: undefined,
    hours: [],
    rest: [['02T10:10', '02T10:20']],
  },
  {
    why: 'nothing',
    range: { since: at('02T10:00'), until: at('02T10:00') },
    days: undefined,
    hours: [],
    rest: [],
  },
  {
    why: 'less than nothing',
    range: { since: at('04T10:30'), until: at('02T10:30') },
    days: undefined,
    hours: [],
    rest: [],
  },
  {
    why: 'an open end',
    range: { since: at('02T10:00') },
    days: ['03T00:00', undefined],
    hours: [['02T10:00', '03T00:00']],
    rest: [],
  },
])('$why', ({ range, days, hours, rest }) => {
  const split = splitTime(range);
  expect(shown(split.days)).toEqual(days);
  expect(shownAll(split.hours)).toEqual(hours);
  expect(shownAll(split.rest)).toEqual(rest);
});

test('every moment of the range is in exactly one part, and no other moment in any', () => {
  const START = Date.UTC(2025, 1, 27);
  const SPAN_MS = 5 * 86_400_000;
  const moment = fc
    .oneof(
      fc.integer({ min: 0, max: SPAN_MS }),
      fc.nat(5 * 24).map((hour) => hour * 3_600_000),
    )
    .map((offset) => new Date(START + offset));
  const isIn = (time: Date, { since, until }: TimeRange): boolean =>
    (since === undefined || time >= since) && (until === undefined || time < until);
  fc.assert(
    fc.property(
      fc.option(moment, { nil: undefined }),
      fc.option(moment, { nil: undefined }),
      fc.array(moment),
      (since, until, moments) => {
        const { days, edges, hours, rest } = splitTime({ since, until });
        const wholeDays = days === undefined ? [] : [days];
        for (const time of moments) {
          const expected = isIn(time, { since, until }) ? 1 : 0;
          const count = (parts: readonly TimeRange[]) =>
            parts.filter((part) => isIn(time, part)).length;
          expect(count([...wholeDays, ...edges])).toBe(expected);
          expect(count([...wholeDays, ...hours, ...rest])).toBe(expected);
        }
      },
    ),
  );
});
