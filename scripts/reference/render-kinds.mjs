// Renders the kinds of backends: the table of the guide, and what the help of the command line says of them.

const BEGIN = '<!-- The table is written by `node scripts/reference.mjs`. -->';
const END = '<!-- End of the table. -->';

/** @typedef {ReturnType<typeof import('../../packages/backends/src/index.ts').kindViews>[number]} Kind */

const code = (text) => `\`${text}\``;
const codes = (texts) => texts.map(code).join(', ');

/**
 * @param {string} page The guide with the table of earlier kinds.
 * @param {readonly Kind[]} kinds
 * @returns {string}
 */
export function renderKindsTable(page, kinds) {
  const rows = kinds.map((kind) => [
    code(kind.name),
    kind.purpose,
    kind.is_internal ? 'registered by the service' : codes(plainPrefixes(kind)),
    codes(kind.aliases),
    codes(Object.keys(kind.options.properties)),
  ]);
  const [before, after] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  const lines = aligned([['Kind', 'For', 'Address', 'Other names', 'Also takes'], ...rows]);
  return `${page.slice(0, before)}\n\n${lines.join('\n')}\n\n${page.slice(after)}`;
}

/** Each kind can be behind a bridge, which the guide says once. */
const plainPrefixes = ({ url_prefixes: prefixes }) =>
  prefixes.filter((prefix) => prefix !== 'bridge://');

/** As the formatter writes a table. */
function aligned([head, ...rows]) {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at].length)));
  const line = (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}

/**
 * @param {readonly Kind[]} kinds
 * @returns {string} A module of the command line, which cannot import the backends: they are larger than all of it.
 */
export function renderKindsModule(kinds) {
  const offered = kinds.filter((kind) => !kind.is_internal);
  const lines = offered.map(({ name, purpose }) => `  ['${name}', '${purpose}'],`);
  return `// Written by \`node scripts/reference.mjs\` from packages/backends/src/kinds.ts.

/** The kinds of backends that operators register, and what each is for. */
export const BACKEND_KINDS: readonly (readonly [name: string, purpose: string])[] = [
${lines.join('\n')}
];
`;
}
