import type { Environment } from '@model-gateway/kernel';
import { isAlias, isMap, isScalar, isSeq, type Alias, type ParsedNode, type Scalar } from 'yaml';
import { DEPTH_MAX, invalidYaml, TOO_LARGE, type YamlProblem } from './parse-yaml.ts';
import { substitute, type Substituted } from './substitute.ts';

/** What a YAML text becomes when it is read, found without reading it. */
export interface MeasuredYaml {
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Alias, ParsedNode>;
  /** The texts of the file with their variables. */
  readonly texts: ReadonlyMap<Scalar, Substituted>;
  /** Why the text cannot be read. */
  readonly problem: YamlProblem | undefined;
}

/** The values of a file; an alias counts as all that it stands for. */
const NODES_MAX = 200_000;
const CHARS_MAX = 16 * 1024 * 1024;

interface Size {
  readonly nodes: number;
  readonly chars: number;
  readonly depth: number;
}

const NONE: Size = { nodes: 0, chars: 0, depth: 0 };

/** Measures every node once. Aliases take the size of their anchors, so that what they multiply is never built. */
export function measure(contents: ParsedNode | null, environment: Environment): MeasuredYaml {
  const anchors = new Map<string, ParsedNode>();
  const targets = new Map<Alias, ParsedNode>();
  const texts = new Map<Scalar, Substituted>();
  const sizes = new Map<unknown, Size>();
  let problem: YamlProblem | undefined;

  function report(node: unknown, message: string): void {
    problem ??= { message, offset: offsetOf(node) ?? 0 };
  }

  function sizeOfAlias(alias: Alias): Size {
    const target = anchors.get(alias.source);
    if (target === undefined) {
      report(alias, invalidYaml('BAD_ALIAS'));
      return NONE;
    }
    targets.set(alias, target);
    const size = sizes.get(target);
    // An alias within its own anchor would never end.
    if (size === undefined) report(alias, TOO_LARGE);
    return size ?? NONE;
  }

  function sizeOfScalar(scalar: Scalar): Size {
    if (typeof scalar.value !== 'string') return { nodes: 1, chars: 0, depth: 1 };
    const text = substitute(scalar.value, environment, CHARS_MAX);
    texts.set(scalar, text);
    return { nodes: 1, chars: text.text.length, depth: 1 };
  }

  function sizeOfAll(items: Iterable<unknown>): Size {
    let { nodes, chars, depth } = { ...NONE, nodes: 1 };
    for (const item of items) {
      if (problem !== undefined) break;
      const size = sizeOf(item);
      nodes += size.nodes;
      chars += size.chars;
      depth = Math.max(depth, size.depth);
      if (nodes > NODES_MAX || chars > CHARS_MAX || depth >= DEPTH_MAX) report(item, TOO_LARGE);
    }
    return { nodes, chars, depth: depth + 1 };
  }

  function* partsOf(fields: readonly { readonly key: unknown; readonly value: unknown }[]) {
    const names = new Set<string>();
    for (const { key, value } of fields) {
      const name = nameOf(key);
      if (isScalar(key) && names.has(name)) report(key, invalidYaml('DUPLICATE_KEY'));
      names.add(name);
      yield key;
      yield value;
    }
  }

  function sizeOf(node: unknown): Size {
    if (node === null || node === undefined) return NONE;
    if (isAlias(node)) return sizeOfAlias(node);
    const { anchor } = node as ParsedNode & { readonly anchor?: string };
    if (anchor !== undefined) anchors.set(anchor, node as ParsedNode);
    const size = isScalar(node)
      ? sizeOfScalar(node)
      : isSeq(node)
        ? sizeOfAll(node.items)
        : isMap(node)
          ? sizeOfAll(partsOf(node.items))
          : NONE;
    if (anchor !== undefined) sizes.set(node, size);
    return size;
  }

  sizeOf(contents);
  return { targets, texts, problem };
}

/** The name of a field; `?` where the key is a collection or an alias. */
export const nameOf = (key: unknown): string => (isScalar(key) ? String(key.value) : '?');

const isRanged = (node: unknown): node is { readonly range: readonly [number, number, number] } =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);

/** Where a node begins in the text. */
export const offsetOf = (node: unknown): number | undefined =>
  isRanged(node) ? node.range[0] : undefined;
