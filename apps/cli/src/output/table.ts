import { oneLine } from './printable.ts';

const GAP = '  ';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
}

/** Rows as text: one line each below the titles. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map(({ value }) => oneLine(value(row))));
  const lines = [columns.map(({ title }) => title), ...cells];
  const widths = columns.map((_, column) =>
    Math.max(...lines.map((line) => lengthOf(line[column] ?? ''))),
  );
  return lines.map((line) => lineOf(line, widths, columns)).join('\n');
}

function lineOf<Row>(
  line: readonly string[],
  widths: readonly number[],
  columns: readonly Column<Row>[],
): string {
  return line
    .map((cell, column) => {
      const space = ' '.repeat((widths[column] ?? 0) - lengthOf(cell));
      return columns[column]?.isNumber === true ? space + cell : cell + space;
    })
    .join(GAP)
    .trimEnd();
}

/** Characters, not the units of a string. */
const lengthOf = (text: string): number => Array.from(text).length;
