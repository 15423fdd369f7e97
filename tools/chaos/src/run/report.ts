import { groupBy } from '../group-by.ts';
import type { Differences } from '../books/check-books.ts';
import type { Sent } from '../load/outcome.ts';
import type { ChaosResult } from './run-chaos.ts';

const EXAMPLES_MAX = 5;

/** The lines of the report of a run. */
export function reportOf(result: ChaosResult): readonly string[] {
  const { sent, steps, rows, settledMs, differences, problems } = result;
  const slowest = Math.max(0, ...steps.map(({ recoveryMs }) => recoveryMs));
  return [
    ...outcomeTable(sent),
    '',
    `streams cut: ${sent.filter(({ outcome }) => outcome.name === 'cut').length}`,
    `usage rows: ${rows}; written ${seconds(settledMs)} after the load`,
    ...Object.entries(differences).map(
      ([name, found]: [string, readonly string[]]) =>
        `${name}: ${found.length}${found.length === 0 ? '' : ` (${found.slice(0, EXAMPLES_MAX).join('; ')})`}`,
    ),
    `steps: ${steps.length}, slowest recovery ${seconds(slowest)}`,
    ...stateTable(result),
    ...problems.map((problem) => `problem: ${problem}`),
  ];
}

/** The head of the table of several runs. */
export const TABLE_HEAD: readonly string[] = [
  '| Seed | Steps | Requests by outcome | Usage rows | Differences | Slowest recovery of one fault, of two |',
  '| ---: | ----: | ------------------- | ---------: | ----------: | ------------------------------------- |',
];

/** One run as a row of the table. */
export function tableRow(seed: number, result: ChaosResult): string {
  const { sent, steps, rows, differences } = result;
  const outcomes = [...groupBy(sent, ({ outcome }) => outcome.name)]
    .map(([name, of]) => `${name} ${of.length}`)
    .join(', ');
  const { missing, doubled, invented, wrongTokens, points, video } = differences;
  const different = [missing, doubled, invented, wrongTokens, points, video].flat().length;
  const slowest = [1, 2].map((count) => {
    const times = steps.filter(({ faults }) => faults.length === count);
    return seconds(Math.max(0, ...times.map(({ recoveryMs }) => recoveryMs)));
  });
  return `| ${[seed, steps.length, outcomes, rows, different, slowest.join(', ')].join(' | ')} |`;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** What must not be: differences in the books, problems, and single faults with a slow recovery. */
export function violationsOf(result: ChaosResult, recoverySecondsMax: number): readonly string[] {
  const slow = result.steps.filter(
    ({ faults, recoveryMs }) => faults.length === 1 && recoveryMs > recoverySecondsMax * 1_000,
  );
  return [
    ...wrongBooks(result.differences),
    ...result.problems,
    ...slow.map(({ recoveryMs }) => `a recovery took ${seconds(recoveryMs)}`),
  ];
}

/** What differs, and how often. */
export const wrongBooks = (differences: Differences): readonly string[] =>
  Object.entries(differences).flatMap(([name, found]: [string, readonly string[]]) =>
    found.length === 0
      ? []
      : [`${name}: ${found.length} (${found.slice(0, EXAMPLES_MAX).join('; ')})`],
  );

/** The requests by kind and outcome. */
export function outcomeTable(sent: readonly Sent[]): readonly string[] {
  return [...groupBy(sent, ({ kind }) => kind)].map(([kind, requests]) => {
    const outcomes = [...groupBy(requests, ({ outcome }) => outcome.name)].map(([name, of]) => {
      const details = [...groupBy(of, ({ outcome }) => outcome.detail)]
        .filter(([detail]) => detail !== undefined)
        .map(([detail, those]) => `${detail} × ${those.length}`);
      return `${name} ${of.length}${details.length === 0 ? '' : ` (${details.slice(0, EXAMPLES_MAX).join(', ')})`}`;
    });
    return `${kind.padEnd(12)} ${String(requests.length).padStart(6)}  ${outcomes.join('; ')}`;
  });
}

function stateTable({ before, after }: ChaosResult): readonly string[] {
  return after.map(({ name, rssMb, handles }) => {
    const earlier = before.find((state) => state.name === name);
    return `${name.padEnd(12)} memory ${earlier?.rssMb.toFixed(0) ?? '?'} → ${rssMb.toFixed(0)} MB, handles ${earlier?.handles ?? '?'} → ${handles}`;
  });
}
