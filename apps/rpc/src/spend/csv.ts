/** A value of a table. */
type Cell = string | number | null;

const LINE_END = '\r\n';
/** A spreadsheet runs a text that begins with one of these as a formula; some also accept the full-width signs. */
const FORMULA = /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** One line of a CSV file (RFC 4180). Texts that a spreadsheet would run as a formula get an apostrophe in front. */
export const csvLine = (cells: readonly Cell[]): string =>
  `${cells.map(cellText).join(',')}${LINE_END}`;

function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
