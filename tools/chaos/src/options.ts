import { parseArgs } from 'node:util';

const MINUTES_DEFAULT = 3;
const CLIENTS_DEFAULT = 12;
const RECOVERY_SECONDS_DEFAULT = 10;
/** A calm time, a fault and its recovery. */
const SECONDS_PER_STEP = 15;

/** Printed by `--help` and for unknown options. */
export const USAGE = `pnpm --filter chaos start [options]

  --seed N               the seed of the plan and of the load; a random one by default
  --seeds N              this many runs, with one seed after another; 1 by default
  --minutes N            how long to run; ${MINUTES_DEFAULT} by default, with a step every ${SECONDS_PER_STEP} seconds
  --steps N              this many steps instead
  --clients N            how many clients send requests; ${CLIENTS_DEFAULT} by default
  --recovery-seconds N   the longest recovery after a single fault; ${RECOVERY_SECONDS_DEFAULT} by default
  --outages SECONDS      cut Redis, Postgres and both for so long instead, and kill the recorders
  --rolling              restart every process in turn instead, and fail if a request without a stream fails
  --plan                 only print the plan of the seed
  --help                 this text
`;

export interface Options {
  readonly seed: number;
  readonly seeds: number;
  readonly steps: number;
  readonly clients: number;
  readonly recoverySeconds: number;
  /** The seconds of each outage, in place of a plan of the seed. */
  readonly outages: number | undefined;
  readonly isRolling: boolean;
  readonly isPlanOnly: boolean;
  readonly help: boolean;
}

/** Reads the command line; throws for what it does not know. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string', default: '1' },
      minutes: { type: 'string', default: String(MINUTES_DEFAULT) },
      steps: { type: 'string' },
      clients: { type: 'string', default: String(CLIENTS_DEFAULT) },
      'recovery-seconds': { type: 'string', default: String(RECOVERY_SECONDS_DEFAULT) },
      outages: { type: 'string' },
      rolling: { type: 'boolean', default: false },
      plan: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const byTime = Math.ceil((positive('--minutes', values.minutes) * 60) / SECONDS_PER_STEP);
  return {
    seed: values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed),
    seeds: positive('--seeds', values.seeds),
    steps: values.steps === undefined ? byTime : positive('--steps', values.steps),
    clients: positive('--clients', values.clients),
    recoverySeconds: positive('--recovery-seconds', values['recovery-seconds']),
    outages: values.outages === undefined ? undefined : positive('--outages', values.outages),
    isRolling: values.rolling,
    isPlanOnly: values.plan,
    help: values.help,
  };
}

/** A number of the command line. */
export function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Error(`${name} must be a number above 0`);
}
