import type { Environment } from '@model-gateway/kernel';
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import { measure, nameOf, offsetOf, type MeasuredYaml } from './measure-yaml.ts';
import { parseYaml } from './parse-yaml.ts';

export type Path = readonly (string | number)[];

/** Something that is wrong at one place of a file. */
export interface PlacedProblem {
  readonly path: Path;
  readonly message: string;
  /** Where the path does not say it. */
  readonly offset?: number;
}

/** A text that came from the environment, so that it may stand for a number. */
export class SubstitutedText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The content of a YAML file, with the place of each value. */
export interface YamlTree {
  readonly value: unknown;
  /** Why the content cannot be used at all. */
  readonly problems: readonly PlacedProblem[];
  /** Values with variables that have no value; they are as the file has them. */
  readonly unresolved: readonly PlacedProblem[];
  /** Line and column of the innermost known part of a path, both from 1. */
  placeOf(problem: PlacedProblem): { readonly line: number; readonly column: number };
}

export function readYaml(text: string, environment: Environment): YamlTree {
  const { contents, lines, problems: invalid } = parseYaml(text);
  const { targets, texts, problem } = measure(invalid.length === 0 ? contents : null, environment);
  const problems = problem === undefined ? invalid : [problem];
  const unresolved: PlacedProblem[] = [];
  const value =
    problems.length === 0 ? readValue(contents, [], { targets, texts, unresolved }) : undefined;
  return {
    value,
    problems: problems.map((found) => ({ path: [], ...found })),
    unresolved,
    placeOf({ path, offset }) {
      const { line, col } = lines.linePos(offset ?? innermostOffset(contents, path, targets));
      return { line, column: col };
    },
  };
}

interface Reading extends Pick<MeasuredYaml, 'targets' | 'texts'> {
  readonly unresolved: PlacedProblem[];
}

function readValue(node: unknown, path: Path, reading: Reading): unknown {
  if (isAlias(node)) return readValue(reading.targets.get(node), path, reading);
  if (isScalar(node)) {
    const text = reading.texts.get(node);
    if (text === undefined) return node.value;
    reading.unresolved.push(...text.problems.map((message) => ({ path, message })));
    return text.isSubstituted ? new SubstitutedText(text.text) : text.text;
  }
  if (isSeq(node))
    return node.items.map((item, index) => readValue(item, [...path, index], reading));
  if (!isMap(node)) return node ?? null;
  const fields = node.items.map(({ key, value }): readonly [string, unknown] => {
    const name = nameOf(key);
    return [name, readValue(value, [...path, name], reading)];
  });
  return Object.fromEntries(fields);
}

/** Where the last part of a path begins that the file has. */
function innermostOffset(contents: unknown, path: Path, targets: MeasuredYaml['targets']): number {
  let offset = 0;
  let node = contents;
  for (const part of path) {
    while (isAlias(node)) node = targets.get(node);
    const item = isSeq(node) && typeof part === 'number' ? node.items[part] : undefined;
    const field = isMap(node) ? node.items.find(({ key }) => nameOf(key) === part) : undefined;
    const found = offsetOf(field?.key ?? item);
    if (found === undefined) break;
    offset = found;
    node = field === undefined ? item : field.value;
  }
  return offset;
}
