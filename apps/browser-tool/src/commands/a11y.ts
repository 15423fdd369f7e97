import type { AccessibleNode } from '../engine.ts';
import { ToolError } from '../errors.ts';
import { command, READING, runCall, TARGET_ALIASES } from './command.ts';
import { snapshotParams } from './params.ts';
import { cutLines, snapshotLines } from './snapshot-text.ts';

const TEXT_CHARS_DEFAULT = 20_000;
const TREE_CHARS_DEFAULT = 1_000_000;
const MORE_ELEMENTS =
  '… the page has more elements than a snapshot can hold; pass target to read a part of it';

export const a11y = command({
  name: 'a11y',
  http: { method: 'GET', path: '/a11y' },
  inBatch: true,
  aliases: TARGET_ALIASES,
  params: snapshotParams,
  tool: {
    name: 'browser_snapshot',
    title: 'Snapshot',
    description: 'Page as text with refs to act on; prefer it to screenshots',
    fields: ['target', 'interactive', 'depth', 'urls', 'boxes', 'maxChars', 'cursor'],
    overrides: { maxChars: snapshotParams.shape.maxChars.unwrap().default(TEXT_CHARS_DEFAULT) },
    listedDefaults: ['interactive', 'urls', 'boxes', 'maxChars'],
    fixed: { format: 'text' },
    annotations: READING,
    text: ({ text }) => String(text),
  },
  run(params, context) {
    const { interactive, depth, maxChars: limit, cursor, format } = params;
    return runCall(context, 'a11y', {}, async (engine, call) => {
      const { url, title, nodes: all, truncated } = await engine.snapshot(params, call);
      const shallow = depth === undefined ? all : all.map((node) => cutAt(node, depth));
      const nodes = interactive ? shallow.flatMap(interactiveNodes) : shallow;
      const counts = { node_count: count(nodes, () => true), ref_count: count(nodes, hasRef) };
      if (format === 'text') {
        const lines = snapshotLines(nodes);
        if (cursor !== undefined && Number(cursor.slice(1)) > lines.length)
          throw badCursor(cursor, lines.length);
        const page = cutLines(lines, limit ?? TEXT_CHARS_DEFAULT, cursor);
        const isCut = truncated || page.truncated;
        // Otherwise a model would take the last line for the end of the page.
        const text =
          truncated && !page.truncated ? `${page.text}\n${MORE_ELEMENTS}`.trimStart() : page.text;
        return { url, title, nodes: [], ...counts, text, truncated: isCut };
      }
      const budget = { chars: limit ?? TREE_CHARS_DEFAULT, isCut: false };
      const kept = withinBudget(nodes, budget);
      return { url, title, nodes: kept, ...counts, truncated: truncated || budget.isCut };
    });
  },
});

const hasRef = ({ ref }: AccessibleNode): boolean => ref !== undefined;

function count(
  nodes: readonly AccessibleNode[],
  matches: (node: AccessibleNode) => boolean,
): number {
  return nodes.reduce(
    (sum, node) => sum + (matches(node) ? 1 : 0) + count(node.children, matches),
    0,
  );
}

function cutAt(node: AccessibleNode, depth: number): AccessibleNode {
  const children = depth <= 1 ? [] : node.children.map((child) => cutAt(child, depth - 1));
  return { ...node, children };
}

/** Only the interactive nodes, as a flat list. */
function interactiveNodes(node: AccessibleNode): readonly AccessibleNode[] {
  const inner = node.children.flatMap(interactiveNodes);
  if (node.ref === undefined) return inner;
  const parts = node.children.flatMap((child) =>
    node.tag === 'select' && child.role === 'group' ? child.children : [child],
  );
  const texts = parts.filter(({ role }) => role === 'text' || role === 'option');
  return [{ ...node, children: texts.filter(({ ref }) => ref === undefined) }, ...inner];
}

/** The first nodes whose JSON fits. */
function withinBudget(
  nodes: readonly AccessibleNode[],
  budget: { chars: number; isCut: boolean },
): readonly AccessibleNode[] {
  const kept: AccessibleNode[] = [];
  for (const node of nodes) {
    const { children, ...own } = node;
    budget.chars -= JSON.stringify(own).length + ',"children":[]'.length;
    if (budget.chars < 0) {
      budget.isCut = true;
      return kept;
    }
    kept.push({ ...own, children: withinBudget(children, budget) });
  }
  return kept;
}

function badCursor(cursor: string, lines: number): ToolError {
  return new ToolError(
    'INVALID_ARGUMENT',
    `The page has only ${lines} nodes, fewer than cursor ${cursor} expects.`,
    {
      hint: 'The page changed: call browser_snapshot without a cursor.',
      details: { field: 'cursor', received: cursor },
    },
  );
}
