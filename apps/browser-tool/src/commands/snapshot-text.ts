import type { AccessibleNode } from '../engine.ts';
import { oneLine } from '../one-line.ts';

const TEXT_CHARS_MAX = 200;
const INDENT = '  ';
const CURSOR = /^n(\d{1,9})$/;
// Reserved for the line that says how to continue.
const MORE_LINE_CHARS = 80;

/** Roles that add nothing to the lines of their children. */
const DROPPED = new Set([
  'document',
  'generic',
  'list',
  'listitem',
  'none',
  'rowgroup',
  'presentation',
]);
/** Roles that are dropped if they are empty. */
const BOXES = new Set(['group', 'paragraph', 'status']);
const CELLS = new Set(['cell', 'gridcell', 'columnheader', 'rowheader']);

export interface TextPart {
  readonly text: string;
  readonly truncated: boolean;
}

/** The tree of a page as lines for a model, one control or text per line. */
export function snapshotLines(nodes: readonly AccessibleNode[]): readonly string[] {
  return nodes.flatMap((node) => nodeLines(node, 0));
}

/** As many lines as fit, starting at the cursor of the previous part. */
export function cutLines(lines: readonly string[], maxChars: number, cursor?: string): TextPart {
  const left = Number(CURSOR.exec(cursor ?? '')?.[1] ?? lines.length);
  const start = Math.max(0, lines.length - left);
  const shown: string[] = [];
  let chars = 0;
  for (const line of lines.slice(start)) {
    const rest = lines.length - start - shown.length;
    const charsLeft = maxChars - (rest > 1 ? MORE_LINE_CHARS : 0);
    if (shown.length > 0 && chars + line.length + 1 > charsLeft) {
      shown.push(`… ${rest} more nodes, call browser_snapshot with cursor:"n${rest}"`);
      return { text: shown.join('\n'), truncated: true };
    }
    shown.push(line);
    chars += line.length + 1;
  }
  return { text: shown.join('\n'), truncated: false };
}

function nodeLines(node: AccessibleNode, depth: number): readonly string[] {
  const isBare = node.ref === undefined && node.states.length === 0;
  if (DROPPED.has(node.role) && isBare)
    return node.children.flatMap((child) => nodeLines(child, depth));
  if (isBare && isEmpty(node)) return [];
  const indent = INDENT.repeat(depth);
  if (node.role === 'row') return [`${indent}- ${rowLine(node)}`];
  const options = optionsOf(node);
  const [only, ...others] = node.children;
  const isInline =
    options === undefined &&
    only?.role === 'text' &&
    others.length === 0 &&
    node.value === undefined;
  const value = node.value ?? (isInline ? only.name : undefined);
  const tail = [value === undefined ? '' : clip(value), options ?? '']
    .filter((part) => part !== '')
    .join(' ');
  const line = `${indent}- ${head(node)}${tail === '' ? '' : `: ${tail}`}`;
  if (isInline || options !== undefined) return [line];
  return [line, ...node.children.flatMap((child) => nodeLines(child, depth + 1))];
}

function isEmpty({ role, name, value, children }: AccessibleNode): boolean {
  return BOXES.has(role) && name === '' && value === undefined && children.length === 0;
}

/** `role "name" [state] [ref=e1]`. */
function head({ role, name, states, ref, url, box }: AccessibleNode): string {
  if (role === 'text') return `text: ${clip(name)}`;
  return [
    oneLine(role),
    ...(name === '' ? [] : [quoted(name)]),
    ...states.map((state) => `[${oneLine(state)}]`),
    ...(ref === undefined ? [] : [`[ref=${ref}]`]),
    ...(url === undefined ? [] : [`[url=${clip(url)}]`]),
    ...(box === undefined ? [] : [`[box=${box.join(',')}]`]),
  ].join(' ');
}

/** The options of a closed select, on one line. */
function optionsOf({ role, tag, children }: AccessibleNode): string | undefined {
  if (role !== 'combobox' || tag !== 'select') return undefined;
  const names = children.flatMap((child) => (child.role === 'group' ? child.children : [child]));
  return clip(`(${names.map(({ name }) => name).join(', ')})`);
}

function rowLine(row: AccessibleNode): string {
  const cells = row.children.map((child) =>
    CELLS.has(child.role) && child.ref === undefined
      ? inlineText(child.children, child.name)
      : inlineText([child], ''),
  );
  return `${head(row)}: ${cells.join(' | ')}`;
}

/** The content of a cell on one line. */
function inlineText(nodes: readonly AccessibleNode[], otherwise: string): string {
  if (nodes.length === 0) return clip(otherwise);
  return nodes
    .map((node) => {
      if (node.role === 'text') return clip(node.name);
      const inner = inlineText(node.children, '');
      if (DROPPED.has(node.role) && node.ref === undefined) return inner;
      const value = node.value === undefined ? inner : clip(node.value);
      return value === '' ? head(node) : `${head(node)}: ${value}`;
    })
    .join(' ');
}

function quoted(text: string): string {
  return `"${clip(text).replaceAll('"', '\\"')}"`;
}

function clip(text: string): string {
  const line = oneLine(text);
  return line.length <= TEXT_CHARS_MAX ? line : `${line.slice(0, TEXT_CHARS_MAX - 1)}…`;
}
