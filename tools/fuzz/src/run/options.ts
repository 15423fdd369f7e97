import { parseArgs } from 'node:util';
import { targets } from '../targets/index.ts';

const MINUTES_DEFAULT = 3;

/** Printed by `--help` and for unknown options. */
export const USAGE = `pnpm --filter fuzz start [options]

  --minutes N      how long to run; ${MINUTES_DEFAULT} by default
  --cases N        run this many cases of each target instead
  --target NAMES   only these targets, separated by commas
  --seed N         the first seed; a random one by default
  --path PATH      with --seed and one target: only the case that a finding names
  --save           write findings into tools/fuzz/corpus, which every later run and \`npm test\` start with
  --help           this text

Targets:
${targets.map(({ name, about }) => `  ${name.padEnd(18)} ${about}`).join('\n')}
`;

export interface Options {
  readonly seconds: number;
  readonly cases: number | undefined;
  readonly targetNames: readonly string[];
  readonly seed: number;
  readonly path: string | undefined;
  readonly save: boolean;
  readonly help: boolean;
}

/** Reads the command line; throws for what it does not know. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: String(MINUTES_DEFAULT) },
      cases: { type: 'string' },
      target: { type: 'string' },
      seed: { type: 'string' },
      path: { type: 'string' },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const names = targets.map(({ name }) => name);
  const targetNames = values.target?.split(',') ?? names;
  const unknown = targetNames.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`unknown target: ${unknown.join(', ')}`);
  if (values.path !== undefined && (values.seed === undefined || targetNames.length !== 1))
    throw new Error('--path needs --seed and one --target');
  return {
    seconds: positive('--minutes', values.minutes) * 60,
    cases: values.cases === undefined ? undefined : positive('--cases', values.cases),
    targetNames,
    seed: values.seed === undefined ? randomSeed() : Number(values.seed),
    path: values.path,
    save: values.save,
    help: values.help,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Error(`${name} must be a number above 0`);
}

const randomSeed = (): number => Math.floor(Math.random() * 2 ** 31);
