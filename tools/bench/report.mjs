// Results as tables for the terminal, and as Markdown between markers.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { runCommand } from '../../scripts/run-command.mjs';
import { isUnsteady } from './workloads/rounds.mjs';

const NOTHING = '–';
// If other work uses this many cores before the run, only ratios are useful.
const BUSY_CORES_MIN = 0.5;

export const print = (text) => process.stdout.write(`${text}\n`);

/**
 * Prints the result of a benchmark with one workload, and writes it to the files that the options name; to the Markdown only
 * the goals in `shownGoals`.
 */
export async function report(options, machine, workload, { shownGoals, ...result }) {
  print(textReport(workload, result));
  writeJson(options, { machine, ...result, goals: withVerdicts(result.goals) });
  if (options.markdown === undefined) return;
  const goals = shownGoals ?? result.goals;
  await writeMarkdown(options.markdown, machine, [{ workload, result: { ...result, goals } }]);
}

export function writeJson({ json }, value) {
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(value, null, 2)}\n`);
}

export const withVerdicts = (goals) => goals.map((goal) => ({ ...goal, verdict: verdict(goal) }));

/** One line about the machine and the version of Node. */
export async function describeMachine({ node, quick, profile }, cores) {
  const { output } = await runCommand(node, ['--version']);
  const all = cpus();
  return [
    `${all.length} × ${all[0]?.model.trim() || 'unknown processor'} (${process.arch})`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `Node ${output.trim().replace('v', '')}`,
    cores === undefined
      ? 'processes not pinned'
      : 'one core for what is measured, one for the load',
    ...(loadavg()[0] > BUSY_CORES_MIN
      ? [`busy with other work (load average ${loadavg()[0].toFixed(1)} before the run)`]
      : []),
    ...(profile ? ['our processes are slowed down by the profiler: not precise'] : []),
    ...(quick ? ['quick run: not precise'] : []),
  ].join(', ');
}

/** Formats a number with separators, or a text; empty for undefined. */
function shown(value, digits) {
  if (typeof value === 'string') return value;
  return value === undefined
    ? NOTHING
    : value.toLocaleString('en-US', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      });
}

const cellsOf = ({ columns }, row) => columns.map(({ key, digits }) => shown(row[key], digits));

/** The table of one workload for the terminal, with its goals. */
export function textReport(workload, { rows, goals }) {
  const able = rows.filter(({ refusal }) => refusal === undefined);
  const head = ['', ...workload.columns.map(({ label }) => label)];
  const lines = [head, ...able.map((row) => [row.label, ...cellsOf(workload, row)])];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const table = lines.map((line) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
  return [
    `\n${workload.title}`,
    ...table,
    ...refusals(rows),
    ...unsteady(rows),
    ...goals.map(verdict),
    '',
  ].join('\n');
}

const refusals = (rows) =>
  rows
    .filter(({ refusal }) => refusal !== undefined)
    .map(({ label, refusal }) => `${label} was not measured: ${refusal}`);

const unsteady = (rows) =>
  rows
    .filter(isUnsteady)
    .map(
      ({ label, spreadPercent }) =>
        `${label} was not steady: CPU per answer differs by ${shown(spreadPercent, 0)} % within the middle half of its rounds`,
    );

/** A goal, the measured value, and whether it is reached. */
function verdict({ what, atLeast, atMost, unit, measured, isUndecided = false }) {
  const goal = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  if (measured === undefined) return `goal: ${what} ${goal} ${unit}`.trimEnd() + ': not measured';
  const reached = atLeast === undefined ? measured <= atMost : measured >= atLeast;
  const digits = Number.isInteger(measured) || measured >= 100 ? 0 : measured >= 1 ? 1 : 3;
  return (
    `goal: ${what} ${goal} ${unit}, measured ${shown(measured, digits)} ${unit}`
      .replaceAll(' ,', ',')
      .trimEnd() + `: ${isUndecided ? 'undecided, as not steady' : reached ? 'reached' : 'missed'}`
  );
}

/** Writes the tables into a Markdown file, each between its markers; a workload without markers is appended. */
export async function writeMarkdown(file, machine, results) {
  let text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const { workload, result } of results) {
    const [start, end] = [`<!-- bench:${workload.name} -->`, `<!-- /bench:${workload.name} -->`];
    const section = `${start}\n\n${markdownReport(workload, result, machine)}\n\n${end}`;
    const from = text.indexOf(start);
    const to = text.indexOf(end);
    text =
      from < 0 || to < from
        ? `${text.trimEnd()}\n\n${section}\n`
        : `${text.slice(0, from)}${section}${text.slice(to + end.length)}`;
  }
  writeFileSync(file, text);
  await runCommand('node', ['node_modules/oxfmt/bin/oxfmt', '--write', file]);
}

function markdownReport(workload, { rows, goals }, machine) {
  const able = rows.filter(({ refusal }) => refusal === undefined);
  const row = (cells) => `| ${cells.join(' | ')} |`;
  return [
    row([sentence(workload.title), ...workload.columns.map(({ label }) => label)]),
    row(['---', ...workload.columns.map(() => '---:')]),
    ...able.map((each) => row([each.label, ...cellsOf(workload, each)])),
    '',
    ...[...refusals(rows), ...unsteady(rows), ...goals.map(verdict)].map(
      (line) => `- ${sentence(line)}`,
    ),
    '',
    `${workload.basis ?? 'Measured on'} ${machine}.`,
  ].join('\n');
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
