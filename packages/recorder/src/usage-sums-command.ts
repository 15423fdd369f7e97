import type { SpendSumsStore } from '@model-gateway/billing';

interface CommandOptions {
  readonly spendSums: Pick<SpendSumsStore, 'check'>;
  readonly print: (text: string) => void;
}

const HELP = `The kept sums of usage, from which spend is read.

  check           compare them with the usage rows, day by day
  rebuild         the same, and count the days again that differ
`;

/** Runs one command on the kept sums; returns the exit code: 1 when a check found a difference. */
export async function runUsageSumsCommand(
  args: readonly string[],
  { spendSums, print }: CommandOptions,
): Promise<number> {
  const [command, ...rest] = args;
  if ((command !== 'check' && command !== 'rebuild') || rest.length > 0) {
    print(HELP);
    return 2;
  }
  const repairs = command === 'rebuild';
  let rowsChecked = 0;
  let wrongDays = 0;
  for await (const { day, rows, wrongLines } of spendSums.check({ repairs })) {
    rowsChecked += rows;
    if (wrongLines === 0) continue;
    wrongDays += 1;
    print(`${day}  ${wrongLines} sums differed${repairs ? ', counted again' : ''}\n`);
  }
  if (wrongDays === 0) {
    print(`The sums equal ${rowsChecked} rows.\n`);
    return 0;
  }
  if (!repairs) {
    print(`${wrongDays} days differ: rebuild counts them again.\n`);
    return 1;
  }
  // A second pass proves it: rows that are written meanwhile are counted with their sums.
  return runUsageSumsCommand(['check'], { spendSums, print });
}
