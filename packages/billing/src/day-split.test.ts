import * as fc from 'fast-check';
import { splitByDay, type TimeRange } from './day-split.ts';

const at = (text: string): Date => new Date(`2025-03-${text}Z`);

test.each([
  { why: 'no bounds', range: {}, days: [undefined, undefined], edges: [] },
  {
    why: 'whole days',
    range: { since: at('02T00:00'), until: at('05T00:00') },
    days: ['02T00:00', '05T00:00'],
    edges: [],
  },
  {
    why: 'both ends within days',
    range: { since: at('02T10:00'), until: at('05T11:00') },
    days: ['03T00:00', '05T00:00'],
    edges: [
      ['02T10:00', '03T00:00'],
      ['05T00:00', '05T11:00'],
    ],
  },
  {
    why: 'two halves of neighbouring days',
    range: { since: at('02T10:00'), until: at('03T11:00') },
    days: undefined,
    edges: [
      ['02T10:00', '03T00:00'],
      ['03T00:00', '03T11:00'],
    ],
  },
  {
    why: 'a part of one day',
    range: { since: at('02T10:00'), until: at('02T11:00') },
    days: undefined,
    edges: [['02T10:00', '02T11:00']],
  },
  {
    why: 'nothing',
    range: { since: at('02T10:00'), until: at('02T10:00') },
    days: undefined,
    edges: [],
  },
  {
    why: 'an open end',
    range: { since: at('02T10:00') },
    days: ['03T00:00', undefined],
    edges: [['02T10:00', '03T00:00']],
  },
])('$why', ({ range, days, edges }) => {
  const date = (text: string | undefined) => (text === undefined ? undefined : at(text));
  expect(splitByDay(range)).toEqual({
    days: days === undefined ? undefined : { since: date(days[0]), until: date(days[1]) },
    edges: edges.map(([since, until]) => ({ since: date(since), until: date(until) })),
  });
});

test('every moment of the range is in exactly one part, and no other moment in any', () => {
  const START = Date.UTC(2025, 1, 27);
  const SPAN_MS = 5 * 86_400_000;
  const moment = fc.integer({ min: 0, max: SPAN_MS }).map((offset) => new Date(START + offset));
  const isIn = (time: Date, { since, until }: TimeRange): boolean =>
    (since === undefined || time >= since) && (until === undefined || time < until);
  fc.assert(
    fc.property(
      fc.option(moment, { nil: undefined }),
      fc.option(moment, { nil: undefined }),
      fc.array(moment),
      (since, until, moments) => {
        const { days, edges } = splitByDay({ since, until });
        const parts = [...(days === undefined ? [] : [days]), ...edges];
        for (const time of moments) {
          const expected = isIn(time, { since, until }) ? 1 : 0;
          expect(parts.filter((part) => isIn(time, part))).toHaveLength(expected);
        }
      },
    ),
  );
});
