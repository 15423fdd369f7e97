import { readFile } from 'node:fs/promises';
import {
  plan,
  planLines,
  problemLine,
  readConfigFile,
  type FileEntryStore,
} from '@model-gateway/config-file';
import { describeError, type Environment } from '@model-gateway/kernel';
import { checkEntry } from './check-entry.ts';

interface CheckOptions {
  readonly environment: Environment;
  readonly print: (text: string) => void;
  /** Opens the store of an installation for `--plan`. */
  readonly withStore: <Result>(
    work: (store: Pick<FileEntryStore, 'list'>) => Promise<Result>,
  ) => Promise<Result>;
}

const USAGE = 'usage: pnpm config:check <file.yaml> [--plan]\n';
const OK = 0;
const WRONG = 1;
const MISUSED = 2;

/**
 * The command behind `pnpm config:check`: names what is wrong with a file, or with `--plan` what applying it would change.
 * Returns the exit code.
 */
export async function checkConfigFile(
  args: readonly string[],
  { environment, print, withStore }: CheckOptions,
): Promise<number> {
  const [file, ...others] = args.filter((arg) => arg !== '--plan');
  if (file === undefined || file.startsWith('-') || others.length > 0) {
    print(USAGE);
    return MISUSED;
  }
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    print(`${file} cannot be read: ${describeError(error)}\n`);
    return undefined;
  });
  if (text === undefined) return WRONG;
  const read = readConfigFile(text, { environment, check: checkEntry });
  if (read.problems !== undefined) {
    for (const problem of read.problems) print(`${file}:${problemLine(problem)}\n`);
    return WRONG;
  }
  const { entries } = read;
  if (!args.includes('--plan')) {
    print(`${file} is right: ${entries.length} entries\n`);
    return OK;
  }
  const stored = await withStore((store) => store.list());
  for (const line of planLines(plan(stored, entries))) print(`${line}\n`);
  return OK;
}
