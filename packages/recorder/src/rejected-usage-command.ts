import type { RejectedUsage } from '@model-gateway/billing';
import { retryRejected, type RejectedUsageStores } from './rejection.ts';

interface CommandOptions {
  readonly stores: RejectedUsageStores;
  readonly pointsPerUsd: number;
  readonly print: (text: string) => void;
}

const LIST_MAX = 1_000;

const HELP = `Usage events that could not be stored.

  list            the events that wait, oldest first
  show ID         one event with its error
  retry ID        meter it, and remove it from the list
  retry --all     the same for every event
  delete ID       remove it without metering it
`;

/** Runs one command on the rejected usage events; returns the exit code. */
export async function runRejectedUsageCommand(
  args: readonly string[],
  { stores, pointsPerUsd, print }: CommandOptions,
): Promise<number> {
  const { rejectedUsage } = stores;

  async function retry(id: string): Promise<boolean> {
    const outcome = await retryRejected(stores, id, pointsPerUsd);
    const isRejected = outcome.state === 'rejected';
    print(`${id} ${isRejected ? `rejected again: ${outcome.error}` : outcome.state}\n`);
    return outcome.state === 'metered' || outcome.state === 'metered before';
  }

  async function retryAll(): Promise<boolean> {
    let isDone = true;
    const tried = new Set<string>();
    for (;;) {
      const waiting = await rejectedUsage.list(LIST_MAX + tried.size);
      const next = waiting.filter(({ id }) => !tried.has(id));
      if (next.length === 0) return isDone;
      for (const { id } of next) {
        tried.add(id);
        isDone = (await retry(id)) && isDone;
      }
    }
  }

  async function list(): Promise<void> {
    const count = await rejectedUsage.count();
    for (const rejected of await rejectedUsage.list(LIST_MAX)) print(`${lineOf(rejected)}\n`);
    if (count > LIST_MAX) print(`… and ${count - LIST_MAX} more\n`);
    if (count === 0) print('No usage event waits.\n');
  }

  const [command, id, ...rest] = args;
  if (command === 'list' && id === undefined) {
    await list();
    return 0;
  }
  if (id === undefined || rest.length > 0) {
    print(HELP);
    return 2;
  }
  if (command === 'retry') return (await (id === '--all' ? retryAll() : retry(id))) ? 0 : 1;
  if (command !== 'show' && command !== 'delete') {
    print(HELP);
    return 2;
  }
  const rejected = await (command === 'show' ? rejectedUsage.find(id) : rejectedUsage.take(id));
  if (rejected === undefined) {
    print(`${id} unknown\n`);
    return 1;
  }
  print(`${JSON.stringify(rejected, undefined, 2)}\n`);
  if (command === 'delete') print(`${id} deleted\n`);
  return 0;
}

const lineOf = ({ id, lastRejectedAt, attempts, error }: RejectedUsage): string =>
  `${id}  ${lastRejectedAt.toISOString()}  ${attempts} attempts  ${error.replaceAll(/\s+/g, ' ')}`;
