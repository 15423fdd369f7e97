import { groupBy } from '../group-by.ts';
import type { Sent } from '../load/outcome.ts';

/** The middle latency of all requests and of each call, and the one that 5 of 100 exceed, by the name of the measure. */
export function latencies(sent: readonly Sent[]): ReadonlyMap<string, number> {
  return new Map([
    ...measuresOf('load', sent),
    ...callsByName(sent).flatMap(([name, calls]) => measuresOf(name, calls)),
  ]);
}

/** The same in one line, without fractions. */
export const latencyLine = (sent: readonly Sent[]): string =>
  `   p50/p95 ms: ${callsByName(sent)
    .map(
      ([name, calls]) =>
        `${name} ${atShare(calls, 50).toFixed(0)}/${atShare(calls, 95).toFixed(0)}`,
    )
    .join(', ')}`;

interface Timed {
  readonly ms: number;
}

const measuresOf = (name: string, calls: readonly Timed[]): readonly [string, number][] => [
  [`${name}: p50 ms`, atShare(calls, 50)],
  [`${name}: p95 ms`, atShare(calls, 95)],
];

/** Always in the same order. */
const callsByName = (sent: readonly Sent[]): readonly [string, readonly Timed[]][] =>
  [
    ...groupBy(
      sent.flatMap(({ calls }) => calls),
      ({ name }) => name,
    ),
  ].toSorted(([one], [other]) => (one < other ? -1 : 1));

/** The time that so many of a hundred calls take at most. */
function atShare(calls: readonly Timed[], percent: number): number {
  const times = calls.map(({ ms }) => ms).toSorted((one, other) => one - other);
  return times[Math.floor((times.length * percent) / 100)] ?? 0;
}
