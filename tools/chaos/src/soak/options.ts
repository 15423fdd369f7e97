import { parseArgs } from 'node:util';
import { positive } from '../options.ts';

const MINUTES_DEFAULT = 30;
const CLIENTS_DEFAULT = 12;

/** Printed by `--help` and for unknown options. */
export const USAGE = `pnpm --filter chaos soak [options]

  --minutes N   how long to run; ${MINUTES_DEFAULT} by default
  --clients N   how many clients send requests; ${CLIENTS_DEFAULT} by default
  --seed N      the seed of the load; 1 by default
  --help        this text
`;

interface Options {
  readonly minutes: number;
  readonly clients: number;
  readonly seed: number;
  readonly help: boolean;
}

/** Reads the command line; throws for what it does not know. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: String(MINUTES_DEFAULT) },
      clients: { type: 'string', default: String(CLIENTS_DEFAULT) },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    minutes: positive('--minutes', values.minutes),
    clients: positive('--clients', values.clients),
    seed: Number(values.seed),
    help: values.help,
  };
}
