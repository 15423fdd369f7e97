import { cpus, loadavg } from 'node:os';
import type { Sample } from './statistics.ts';

/** One number of a table. */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly digits: number;
}

export interface Row {
  readonly name: string;
  readonly label: string;
  readonly values: Sample;
}

const NOTHING = '–';
/** A proxy is not compared with no proxy. */
const UNCOMPARED = new Set(['direct']);

/** Prints one line. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** A number for a reader. */
export const shown = (value: number | undefined, digits: number): string =>
  value === undefined || !Number.isFinite(value)
    ? NOTHING
    : value.toLocaleString('en-US', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      });

/** A Markdown table; behind each number is its ratio to that of the row `reference`. */
export function tableOf(
  columns: readonly Column[],
  rows: readonly Row[],
  reference?: string,
): readonly string[] {
  const base = rows.find(({ name }) => name === reference)?.values;
  const cellOf = (row: Row, { key, digits }: Column): string => {
    const value = row.values[key];
    const ratio = (value ?? NaN) / (base?.[key] ?? NaN);
    const isCompared =
      !UNCOMPARED.has(row.name) && row.name !== reference && Number.isFinite(ratio);
    return `${shown(value, digits)}${isCompared ? ` (${ratioText(ratio)})` : ''}`;
  };
  return markdown([
    ['', ...columns.map(({ label }) => label)],
    ...rows.map((row) => [row.label, ...columns.map((column) => cellOf(row, column))]),
  ]);
}

const ratioText = (ratio: number): string => `${shown(ratio, ratio < 10 ? 2 : 0)} ×`;

/** The lines of a Markdown table, its columns as wide as their cells. */
export function markdown(rows: readonly (readonly string[])[]): readonly string[] {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length), 3),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...body.map(line)];
}

/** The machine of a run. */
export function machine(): string {
  const [first] = cpus();
  const [load = 0] = loadavg();
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}, load average ${load.toFixed(1)} before the run`;
}
