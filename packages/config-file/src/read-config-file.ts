import { problemText, ServiceError } from '@model-gateway/contracts';
import { sha256Hex, type Environment } from '@model-gateway/kernel';
import type { z } from 'zod';
import { exactJsonSchema } from './config-json-schema.ts';
import {
  ENTRY_NAMES,
  SECTION_SCHEMAS,
  SECTIONS,
  type ConfigEntry,
  type Section,
} from './sections.ts';
import { convertValues } from './convert-values.ts';
import { readYaml, type Path, type PlacedProblem, type YamlTree } from './yaml-tree.ts';

/** One thing that is wrong with a file. It contains no value of the file. */
export interface ConfigProblem {
  readonly line: number;
  readonly column: number;
  /** As `backends[0].url`; empty for the whole file. */
  readonly field: string;
  readonly message: string;
}

/** What a file says, or everything that is wrong with it. */
export type ReadConfig =
  | { readonly entries: readonly ConfigEntry[]; readonly problems?: undefined }
  | { readonly problems: readonly ConfigProblem[] };

interface ReadOptions {
  readonly environment: Environment;
  /** Throws a ServiceError or a WrongField for an entry that its call would refuse for more than its form. */
  readonly check?: (entry: ConfigEntry) => void;
}

const PROBLEMS_MAX = 50;

/** One field of an entry is wrong, although its form is right. */
export class WrongField extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** Reads the text of a configuration file. */
export function readConfigFile(text: string, { environment, check }: ReadOptions): ReadConfig {
  const tree = readYaml(text, environment);
  if (tree.problems.length > 0) return refused(tree, tree.problems);
  if (tree.value !== null && (typeof tree.value !== 'object' || Array.isArray(tree.value)))
    return refused(tree, [{ path: [], message: `must have sections: ${SECTIONS.join(', ')}` }]);
  const converted = convertValues(tree, exactJsonSchema());
  const sections = (converted.value ?? {}) as Readonly<Record<string, unknown>>;
  const { unresolved } = tree;
  // What its call would refuse cannot be said of an entry with a variable that has no value.
  const checkResolved = unresolved.length === 0 ? check : undefined;
  const read = SECTIONS.map((section) => readSection(section, sections[section], checkResolved));
  const found = [...converted.problems, ...read.flatMap((part) => part.problems)];
  const known = found.filter((problem) => !unresolved.some((other) => isWithin(problem, other)));
  const problems = [...unresolved, ...known];
  if (problems.length > 0) return refused(tree, problems);
  return { entries: read.flatMap(({ entries }) => entries) };
}

interface SectionEntries {
  readonly entries: readonly ConfigEntry[];
  readonly problems: readonly PlacedProblem[];
}

function readSection(section: Section, list: unknown, check: ReadOptions['check']): SectionEntries {
  if (list === undefined || list === null) return { entries: [], problems: [] };
  if (!Array.isArray(list))
    return { entries: [], problems: [{ path: [section], message: 'must be a list' }] };
  const names = new Set<string>();
  const entries: ConfigEntry[] = [];
  const problems: PlacedProblem[] = [];
  for (const [index, item] of (list as readonly unknown[]).entries()) {
    const path = [section, index];
    const parsed = SECTION_SCHEMAS[section].safeParse(item);
    if (!parsed.success) {
      problems.push(...issuesOf(parsed.error, path));
      continue;
    }
    const entry = entryOf(section, parsed.data);
    if (names.has(entry.name)) problems.push({ path, message: 'is in this section twice' });
    else problems.push(...refusalsOf(entry, path, check));
    names.add(entry.name);
    entries.push(entry);
  }
  return { entries, problems };
}

function entryOf(section: Section, value: unknown): ConfigEntry {
  const nameOf = ENTRY_NAMES[section] as (given: unknown) => string;
  const hash = sha256Hex(JSON.stringify(value, sortedFields));
  // The schema of the section made the value.
  return { section, name: nameOf(value), hash, value } as ConfigEntry;
}

/** The same hash, whatever the order of the fields is. */
function sortedFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}

function refusalsOf(
  entry: ConfigEntry,
  path: Path,
  check: ReadOptions['check'],
): readonly PlacedProblem[] {
  try {
    check?.(entry);
    return [];
  } catch (error) {
    if (error instanceof ServiceError) return [{ path, message: error.message }];
    if (error instanceof WrongField)
      return [{ path: [...path, error.field], message: error.message }];
    throw error;
  }
}

const issuesOf = ({ issues }: z.ZodError, path: Path): readonly PlacedProblem[] =>
  issues.map((issue) => ({
    path: [...path, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))],
    message: problemText(issue),
  }));

const isWithin = ({ path }: PlacedProblem, { path: outer }: PlacedProblem): boolean =>
  outer.every((part, index) => path[index] === part);

function refused(tree: YamlTree, problems: readonly PlacedProblem[]): ReadConfig {
  const placed = problems.slice(0, PROBLEMS_MAX).map((problem) => ({
    ...tree.placeOf(problem),
    field: fieldOf(problem.path),
    message: problem.message,
  }));
  return {
    problems: placed.toSorted(
      (left, right) => left.line - right.line || left.column - right.column,
    ),
  };
}

const fieldOf = (path: Path): string =>
  path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`,
    )
    .join('');

/** A problem in one line, as compilers write it. */
export const problemLine = ({ line, column, field, message }: ConfigProblem): string =>
  `${line}:${column} ${field === '' ? 'the file' : field} ${message}`;
