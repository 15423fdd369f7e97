import { FEATURES, type Feature } from './features.ts';
import type { Kind } from './kinds.ts';

/** The kinds of each column. */
const COLUMNS: readonly (readonly Kind[])[] = [
  ['external', 'azure', 'agent'],
  ['anthropic'],
  ['gemini'],
  ['local-server'],
  ['engine'],
];

/** The table of docs/dialects.md: what of each feature each kind of backend gets. */
export function documentTable(): readonly (readonly string[])[] {
  const head = ['What', ...COLUMNS.map((kinds) => kinds.map((kind) => `\`${kind}\``).join(', '))];
  const rows = FEATURES.map((feature) => [
    nameOf(feature),
    ...COLUMNS.map(([kind]) => (kind === undefined ? '' : cellOf(feature, kind))),
  ]);
  return [head, ...rows];
}

const nameOf = ({ name, clients }: Feature): string =>
  clients === undefined ? name : `${name} (${clients.join(', ')})`;

function cellOf({ refused, partly, ignored, lost }: Feature, kind: Kind): string {
  if (refused?.[kind] !== undefined) return 'refused';
  if (partly?.[kind] !== undefined) return partly[kind];
  const without = ignored?.[kind] ?? lost?.[kind];
  return without === undefined ? 'yes' : `without ${quoted(without)}`;
}

const quoted = (names: string): string =>
  names
    .split(', ')
    .map((name) => `\`${name}\``)
    .join(', ');

/** The cells of the first table after a heading of a document. */
export function tableAfter(heading: string, text: string): readonly (readonly string[])[] {
  const [, section = ''] = text.split(`\n${heading}\n`);
  const [, table = ''] = /\n(\|[^]*?\|)\n\n/.exec(section) ?? [];
  return table
    .split('\n')
    .filter((line) => !line.startsWith('| -'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}
