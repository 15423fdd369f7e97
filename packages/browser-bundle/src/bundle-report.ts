import { basename } from 'node:path';
import { readBundleList, type BundleConfig, type BundledLibrary } from './bundle-list.ts';
import { scanRuntime, type RuntimeDep } from './runtime-deps.ts';

/** What a browser or a library needs from the machine that it runs on, and what is shipped beside it. */
export interface BundleReport {
  readonly executable: string;
  /** The binary that was scanned: if `executable` is a launcher script, the program that it starts. */
  readonly binary: string;
  /** Such as `elf x86_64`; null if the file has no known binary format, so that nothing could be scanned. */
  readonly format: string | null;
  readonly dependencies: readonly RuntimeDep[];
  readonly libraries: readonly BundledLibrary[];
  /** Names of dependencies that neither the system nor a shipped library provides, and paths of required libraries that do not exist. */
  readonly missing: readonly string[];
  /** Whether everything was scanned and nothing is missing. */
  readonly complete: boolean;
}

const NOTHING_SHIPPED = {
  bundleLibs: undefined,
  bundleManifest: undefined,
  workingDirectory: '.',
};

/** Scans a program and the lists of libraries to ship. */
export async function buildBundleReport(
  executable: string,
  config: BundleConfig = NOTHING_SHIPPED,
): Promise<BundleReport> {
  const libraries = await readBundleList(config);
  const shipped = libraries.filter(({ state }) => state === 'found').map(({ path }) => path);
  const scan = await scanRuntime(executable, { shipped });
  const missing = [
    ...scan.dependencies.filter(({ resolved }) => resolved === null).map(({ name }) => name),
    ...libraries
      .filter(({ state, optional }) => state === 'missing' && !optional)
      .map(({ path }) => path),
  ];
  return {
    executable,
    binary: scan.path,
    format: scan.binary === undefined ? null : `${scan.binary.format} ${scan.binary.architecture}`,
    dependencies: scan.dependencies,
    libraries,
    missing,
    complete: scan.binary !== undefined && missing.length === 0,
  };
}

/** The report as text. */
export function renderBundleReport(report: BundleReport): string {
  const { executable, binary, format, dependencies, libraries } = report;
  const found = dependencies.filter(({ resolved }) => resolved !== null).length;
  const lines = [
    `Bundle report for ${executable}`,
    ...(binary === executable ? [] : [`  starts        ${binary}`]),
    `  format        ${format ?? 'not a known binary format, so its libraries are unknown'}`,
    `  dependencies  ${found} found, ${dependencies.length - found} missing`,
    `  to ship       ${libraries.filter(({ state }) => state === 'found').length} of ${libraries.length} listed`,
    ...section(
      'Dependencies',
      dependencies.map(({ name, resolved }) => [name, resolved ?? 'MISSING']),
    ),
    ...section(
      'Libraries to ship',
      libraries.map((library) => [basename(library.path), describeLibrary(library)]),
    ),
    '',
    summaryLine(report),
  ];
  return `${lines.join('\n')}\n`;
}

function summaryLine({ complete, format, missing }: BundleReport): string {
  if (complete) return 'Complete.';
  return missing.length === 0 && format === null
    ? 'Unknown: nothing could be scanned.'
    : `Incomplete: ${missing.join(', ')}`;
}

function section(title: string, rows: ReadonlyArray<readonly [string, string]>): readonly string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([name]) => name.length));
  return ['', title, ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)];
}

function describeLibrary({ path, source, optional, state }: BundledLibrary): string {
  const notes = {
    found: '',
    missing: optional ? ' (missing, optional)' : ' (MISSING)',
    elsewhere: ' (for another operating system)',
  };
  return `${path}${notes[state]}, listed in ${source}`;
}
