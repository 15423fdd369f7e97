import { describeError, type Environment } from '@model-gateway/kernel';
import { planLines } from '../plan.ts';
import { problemLine, readConfigFile, type ConfigProblem } from '../read-config-file.ts';
import { planEntries } from './apply-entries.ts';
import { createCheckEntry } from './check-entry.ts';
import type { EntryRules } from './entry-rules.ts';
import type { ConfiguredStores } from './configured-stores.ts';
import type { InstalledOptions } from './installed-entries.ts';
import { problemsIn } from './wrong-entries.ts';

interface CheckOptions {
  readonly environment: Environment;
  readonly rules: EntryRules;
  readonly readText: (path: string) => Promise<string>;
  readonly print: (text: string) => void;
  /** Opens the stores of an installation for `--plan`. */
  readonly withStores: <Result>(
    work: (stores: ConfiguredStores, options: PlanOptions) => Promise<Result>,
  ) => Promise<Result>;
}

type PlanOptions = Pick<InstalledOptions, 'canReadKeys'>;

const USAGE = 'usage: pnpm gateway config:check <file.yaml> [--plan]\n';
const OK = 0;
const WRONG = 1;
const MISUSED = 2;

/**
 * The command behind `pnpm gateway config:check`: names what is wrong with a file, or with `--plan` what applying it would change.
 * Returns the exit code.
 */
export async function checkConfigFile(
  args: readonly string[],
  { environment, rules, readText, print, withStores }: CheckOptions,
): Promise<number> {
  const [file, ...others] = args.filter((arg) => arg !== '--plan');
  if (file === undefined || file.startsWith('-') || others.length > 0) {
    print(USAGE);
    return MISUSED;
  }
  const text = await readText(file).catch((error: unknown) => {
    print(`${file} cannot be read: ${describeError(error)}\n`);
    return undefined;
  });
  if (text === undefined) return WRONG;
  const read = readConfigFile(text, {
    environment,
    check: createCheckEntry(rules),
  });
  const printWrong = (problems: readonly ConfigProblem[]): number => {
    for (const problem of problems) print(`${file}:${problemLine(problem)}\n`);
    return WRONG;
  };
  if (read.problems !== undefined) return printWrong(read.problems);
  const { entries } = read;
  if (!args.includes('--plan')) {
    print(`${file} is right: ${entries.length} entries\n`);
    return OK;
  }
  try {
    const planned = await withStores((stores, options) =>
      planEntries(stores, entries, { ...rules, ...options }),
    );
    for (const line of planLines(planned)) print(`${line}\n`);
    return OK;
  } catch (error) {
    return printWrong(problemsIn(read, error));
  }
}
