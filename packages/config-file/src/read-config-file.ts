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
export type ReadConfig = ValidConfig | { readonly problems: readonly ConfigProblem[] };

/** A file that is valid as far as can be checked without an installation. */
export interface ValidConfig {
  readonly entries: readonly ConfigEntry[];
  readonly problems?: undefined;
  /** The place of an entry that the installation refuses. */
  readonly problemOf: (wrong: WrongEntry) => ConfigProblem;
}

/** An entry of which one field does not fit the installation. */
export interface WrongEntry {
  readonly entry: ConfigEntry;
  readonly field: string;
  readonly message: string;
}

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
  const { unresolved } = tree;
  // Each of these is compared with each other problem.
  if (unresolved.length > PROBLEMS_MAX) return refused(tree, unresolved);
  const converted = convertValues(tree.value, exactJsonSchema());
  const sections = (converted.value ?? {}) as Readonly<Record<string, unknown>>;
  // An entry with a variable that has no value cannot be checked by the rules of its call.
  const isResolved = (entry: Path): boolean =>
    !unresolved.some((problem) => isWithin(problem, { path: entry }));
  const checkAt = (entry: ConfigEntry, path: Path): void => {
    if (isResolved(path)) check?.(entry);
  };
  const read = SECTIONS.map((section) => readSection(section, sections[section], checkAt));
  const found = [...converted.problems, ...read.flatMap((part) => part.problems)];
  const known = found.filter((problem) => !unresolved.some((other) => isWithin(problem, other)));
  const problems = [...unresolved, ...known];
  if (problems.length > 0) return refused(tree, problems);
  const paths = new Map(
    read.flatMap((part) => part.entries.map(({ entry, path }) => [entry, path])),
  );
  return {
    entries: [...paths.keys()],
    problemOf: ({ entry, field, message }) =>
      placed(tree, { path: [...(paths.get(entry) ?? []), field], message }),
  };
}

type CheckAt = (entry: ConfigEntry, path: Path) => void;

interface SectionEntries {
  readonly entries: readonly { readonly entry: ConfigEntry; readonly path: Path }[];
  readonly problems: readonly PlacedProblem[];
}

function readSection(section: Section, list: unknown, check: CheckAt): SectionEntries {
  if (list === undefined || list === null) return { entries: [], problems: [] };
  if (!Array.isArray(list))
    return { entries: [], problems: [{ path: [section], message: 'must be a list' }] };
  const names = new Set<string>();
  const entries: { readonly entry: ConfigEntry; readonly path: Path }[] = [];
  const problems: PlacedProblem[] = [];
  for (const [index, item] of (list as readonly unknown[]).entries()) {
    if (problems.length >= PROBLEMS_MAX) break;
    const path = [section, index];
    const parsed = SECTION_SCHEMAS[section].safeParse(item);
    if (!parsed.success) {
      problems.push(...issuesOf(parsed.error, path));
      continue;
    }
    const entry = entryOf(section, parsed.data);
    if (names.has(entry.name)) problems.push({ path, message: 'is in this section twice' });
    problems.push(...refusalsOf(entry, path, check));
    names.add(entry.name);
    entries.push({ entry, path });
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

function refusalsOf(entry: ConfigEntry, path: Path, check: CheckAt): readonly PlacedProblem[] {
  try {
    check(entry, path);
    return [];
  } catch (error) {
    if (error instanceof ServiceError) return [{ path, message: error.message }];
    if (error instanceof WrongField)
      return [{ path: [...path, error.field], message: error.message }];
    throw error;
  }
}

const issuesOf = ({ issues }: z.ZodError, path: Path): readonly PlacedProblem[] =>
  issues
    // Each field that does not exist is a problem of its own.
    .filter(({ code }) => code !== 'unrecognized_keys')
    .map((issue) => ({
      path: [
        ...path,
        ...issue.path.map((part) => (typeof part === 'number' ? part : String(part))),
      ],
      message: problemText(issue),
    }));

type Placed = Pick<PlacedProblem, 'path'>;

const isWithin = ({ path }: Placed, { path: outer }: Placed): boolean =>
  outer.every((part, index) => path[index] === part);

function refused(tree: YamlTree, problems: readonly PlacedProblem[]): ReadConfig {
  return {
    problems: problems
      .slice(0, PROBLEMS_MAX)
      .map((problem) => placed(tree, problem))
      .toSorted((left, right) => left.line - right.line || left.column - right.column),
  };
}

const placed = (tree: YamlTree, problem: PlacedProblem): ConfigProblem => ({
  ...tree.placeOf(problem),
  field: fieldOf(problem.path),
  message: problem.message,
});

const fieldOf = (path: Path): string =>
  path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`,
    )
    .join('');

/** A problem in one line, as compilers write it. */
export const problemLine = ({ line, column, field, message }: ConfigProblem): string =>
  `${line}:${column} ${field === '' ? 'the file' : field} ${message}`;
