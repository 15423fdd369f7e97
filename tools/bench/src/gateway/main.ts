import { parseArgs } from 'node:util';
import { chooseCores } from '../measure/cores.ts';
import { machine, print, tableOf } from '../measure/table.ts';
import { REFERENCE } from './candidates.ts';
import { FULL, QUICK } from './rounds.ts';
import { WORKLOADS } from './workloads.ts';

const names = WORKLOADS.map(({ name }) => name);

export const USAGE = `pnpm --filter bench start gateway [options]

Measures our service, all of it, beside a bare metered proxy and Portkey, and prints tables in Markdown.

  --only NAMES   only these workloads: ${names.join(',')}
  --quick        one short round of each, to see that everything runs; the numbers mean nothing
`;

/** Runs the workloads that the command line names. */
export async function benchGateway(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } },
  });
  const wanted = values.only?.split(',') ?? names;
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`unknown workload: ${unknown.join(', ')}\n\n${USAGE}`);
  print(machine());
  const cores = chooseCores();
  for (const workload of WORKLOADS.filter(({ name }) => wanted.includes(name))) {
    print(`\n### ${workload.title}`);
    const rows = await workload.run(cores, values.quick ? QUICK : FULL);
    for (const line of ['', ...tableOf(workload.columns, rows, REFERENCE), '']) print(line);
  }
}
