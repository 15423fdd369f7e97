// The results of all candidates as one table, with the goals.
import { median } from '../workloads/rounds.mjs';

/** How the table is printed. */
export const WORK = {
  name: 'browser',
  title: 'browser tool and its peers over stdio MCP, a page of 377 elements, medians',
  columns: [
    { key: 'playwright', label: '@playwright/mcp 0.0.83', digits: 0 },
    { key: 'devtools', label: 'chrome-devtools-mcp 1.11.0', digits: 0 },
    { key: 'ours', label: 'browser-tool', digits: 0 },
    { key: 'ratio', label: '× better peer', digits: 2 },
  ],
};

// `ratio` is the maximum relative to the better peer; `atMost` is an absolute maximum.
const MEASURES = [
  { key: 'initializeMs', label: 'initialize, ms', ratio: 0.79 },
  { key: 'navigateMs', label: 'navigate, ms', ratio: 0.7 },
  { key: 'clickMs', label: 'click, ms', ratio: 0.35 },
  { key: 'typeMs', label: 'type, ms', atMost: 60 },
  { key: 'evaluateMs', label: 'evaluate, ms', ratio: 0.05 },
  { key: 'snapshotMs', label: 'snapshot, ms', ratio: 1 },
  { key: 'screenshotMs', label: 'screenshot, ms', ratio: 0.7 },
  { key: 'snapshotChars', label: 'snapshot, characters', atMost: 6400 },
  { key: 'snapshotTokens', label: 'snapshot, tokens (o200k)', atMost: 2350 },
  { key: 'toolsTokens', label: 'tools/list, tokens (o200k)', atMost: 1700 },
  { key: 'eofMs', label: 'browser gone after the end of input, ms', atMost: 300 },
  { key: 'killMs', label: 'browser gone after SIGKILL, ms', atMost: 2500 },
  { key: 'memoryMb', label: 'memory of server and browser, MB' },
];
const COVERED_MS_MAX = 1100;

/** The rows and goals for the `{ name, label, rounds }` of each candidate, and a row for each that was not measured. */
export function tableOf(measured, refused) {
  const rows = [...MEASURES.map((measure) => measureRow(measure, measured)), ...oddRows(measured)];
  const goals = MEASURES.filter(({ ratio, atMost }) => (ratio ?? atMost) !== undefined).map(
    (measure) => goalOf(measure, rows),
  );
  const ours = measured.find(({ name }) => name === 'ours')?.rounds ?? [];
  return { rows: [...rows, ...refused], goals: [...goals, ...oddGoals(ours)] };
}

function measureRow({ key, label }, measured) {
  const values = Object.fromEntries(
    measured.map(({ name, rounds }) => [name, median(rounds.map((round) => round[key]))]),
  );
  const better = Math.min(values.playwright ?? Infinity, values.devtools ?? Infinity);
  const hasRatio = values.ours !== undefined && better < Infinity;
  return { key, label, ...values, ratio: hasRatio ? values.ours / better : undefined };
}

function goalOf({ key, label, ratio, atMost }, rows) {
  const row = rows.find((each) => each.key === key);
  if (ratio === undefined) return { what: label, atMost, unit: '', measured: row?.ours };
  const what = label.replace(/, ms$/, '');
  return { what, atMost: ratio, unit: '× the better peer', measured: row?.ratio };
}

/** For these cases the behavior matters more than the time. */
function oddRows(measured) {
  const row = (label, show) => ({
    label,
    ...Object.fromEntries(measured.map(({ name, rounds }) => [name, show(rounds)])),
  });
  return [row('click on a covered element', coverText), row('a navigation that fails', deadText)];
}

function coverText(rounds) {
  const seconds = (median(rounds.map(({ coveredMs }) => coveredMs)) / 1000).toFixed(1);
  if (rounds.some(({ isCoverReported }) => !isCoverReported)) return 'false success';
  const names = rounds.every(({ isCoverNamed }) => isCoverNamed) ? ' that names the cover' : '';
  return `error${names} after ${seconds} s`;
}

function deadText(rounds) {
  const failures = Math.max(...rounds.map(({ failuresAfterDead }) => failuresAfterDead));
  const report = rounds.every(({ isDeadReported }) => isDeadReported)
    ? 'error'
    : 'reported as success';
  return `${report}, ${failures === 0 ? 'the next one works' : `up to ${failures} more fail`}`;
}

function oddGoals(ours) {
  const nameMs = ours.map(({ isCoverNamed, coveredMs }) => (isCoverNamed ? coveredMs : Infinity));
  const failures = ours.map(({ isDeadReported, failuresAfterDead }) =>
    isDeadReported ? failuresAfterDead : Infinity,
  );
  return [
    {
      what: 'a covered element is reported and its cover named',
      atMost: COVERED_MS_MAX,
      unit: 'ms',
      measured: median(nameMs),
    },
    {
      what: 'navigations that fail after one that had to',
      atMost: 0,
      unit: '',
      measured: Math.max(0, ...failures),
    },
  ];
}
