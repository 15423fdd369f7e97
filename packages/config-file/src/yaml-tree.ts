import type { Environment } from '@model-gateway/kernel';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type ParsedNode,
} from 'yaml';
import { substitute } from './substitute.ts';

export type Path = readonly (string | number)[];

/** Something that is wrong at one place of a file. */
export interface PlacedProblem {
  readonly path: Path;
  readonly message: string;
  /** Where the path does not say it. */
  readonly offset?: number;
}

/** The content of a YAML file, with the place of each value. */
export interface YamlTree {
  readonly value: unknown;
  /** Why the content cannot be used at all. */
  readonly problems: readonly PlacedProblem[];
  /** Values with variables that have no value; they are as the file has them. */
  readonly unresolved: readonly PlacedProblem[];
  /** Whether the value came from the environment, so that it is a text where a number is expected. */
  isSubstituted(path: Path): boolean;
  /** Line and column of the innermost known part of a path, both from 1. */
  placeOf(problem: PlacedProblem): { readonly line: number; readonly column: number };
}

/** Bounds what references to anchors can multiply. */
const NODES_MAX = 200_000;
const DEPTH_MAX = 50;

export function readYaml(text: string, environment: Environment): YamlTree {
  const lines = new LineCounter();
  // Its own messages would contain lines of the file.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems: PlacedProblem[] = document.errors.map(({ code, pos: [offset] }) => ({
    path: [],
    message: `is not valid YAML: ${code.toLowerCase().replaceAll('_', ' ')}`,
    offset,
  }));
  const offsets = new Map<string, number>();
  const substituted = new Set<string>();
  const unresolved: PlacedProblem[] = [];
  const findings = { offsets, substituted, problems, unresolved };
  const reader = createReader(document, environment, findings);
  const value = problems.length === 0 ? reader(document.contents, []) : undefined;
  return {
    value,
    problems,
    unresolved,
    isSubstituted: (path) => substituted.has(keyOf(path)),
    placeOf({ path, offset }) {
      const { line, col } = lines.linePos(offset ?? innermost(offsets, path));
      return { line, column: col };
    },
  };
}

interface Findings {
  readonly offsets: Map<string, number>;
  readonly substituted: Set<string>;
  readonly problems: PlacedProblem[];
  readonly unresolved: PlacedProblem[];
}

type Reader = (node: unknown, path: Path) => unknown;

function createReader(
  document: Document.Parsed,
  environment: Environment,
  { offsets, substituted, problems, unresolved }: Findings,
): Reader {
  let nodes = 0;

  function readText(text: string, path: Path): string {
    const { text: value, isSubstituted, problems: found } = substitute(text, environment);
    if (isSubstituted) substituted.add(keyOf(path));
    unresolved.push(...found.map((message) => ({ path, message })));
    return value;
  }

  function readNode(node: ParsedNode, path: Path): unknown {
    if (isAlias(node)) return read(node.resolve(document), path);
    if (isScalar(node))
      return typeof node.value === 'string' ? readText(node.value, path) : node.value;
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        place([...path, index], item);
        return read(item, [...path, index]);
      });
    }
    if (!isMap(node)) return undefined;
    const fields = node.items.map(({ key, value }): readonly [string, unknown] => {
      const name = isScalar(key) ? String(key.value) : '?';
      place([...path, name], key);
      return [name, read(value, [...path, name])];
    });
    return Object.fromEntries(fields);
  }

  function place(path: Path, node: unknown): void {
    const range = isRanged(node) ? node.range : undefined;
    if (range !== undefined) offsets.set(keyOf(path), range[0]);
  }

  function read(node: unknown, path: Path): unknown {
    if (node === null || node === undefined) return null;
    nodes += 1;
    if (nodes > NODES_MAX || path.length > DEPTH_MAX) {
      if (nodes === NODES_MAX + 1 || path.length === DEPTH_MAX + 1)
        problems.push({ path, message: 'is too large' });
      return undefined;
    }
    return readNode(node as ParsedNode, path);
  }

  return read;
}

const isRanged = (node: unknown): node is { readonly range: readonly [number, number, number] } =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);

const keyOf = (path: Path): string => JSON.stringify(path);

function innermost(offsets: ReadonlyMap<string, number>, path: Path): number {
  for (let length = path.length; length > 0; length -= 1) {
    const offset = offsets.get(keyOf(path.slice(0, length)));
    if (offset !== undefined) return offset;
  }
  return 0;
}
