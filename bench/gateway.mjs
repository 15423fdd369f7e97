// `pnpm bench:gateway`: measures our gateway and its peers in one run, and prints the results.
import { writeFile } from 'node:fs/promises';
import { ensureBuilt } from '../scripts/bootstrap.mjs';
import { createContestants } from './contestants.mjs';
import { readOptions, USAGE } from './options.mjs';
import { textReport, verdict, writeMarkdown } from './report.mjs';
import { print, runBench, runCommandLine } from './run.mjs';
import { WORKS } from './works/index.mjs';

const RUN_MINUTES_MAX = 30;

async function main(args) {
  const options = readOptions(
    args,
    WORKS.map(({ name }) => name),
  );
  if (options.help) {
    print(USAGE);
    return;
  }
  if (options.build) await ensureBuilt();
  await runBench({ options, minutesMax: RUN_MINUTES_MAX }, measure);
}

async function measure(run) {
  const { options, machine, progress, signal } = run;
  const contestants = await createContestants(run);
  print(`\n${machine}`);
  for (const note of contestants.notes) print(note);
  const results = [];
  for (const work of WORKS.filter(({ name }) => options.works.includes(name))) {
    signal.throwIfAborted();
    const result = await work.run({ ...run, contestants });
    results.push({ work, result });
    progress('');
    print(textReport(work, result));
    // After each workload, so that a failure does not lose earlier results.
    await keep(options, machine, results);
  }
}

async function keep(options, machine, results) {
  if (options.json !== undefined) {
    const works = results.map(({ work: { name, title }, result: { rows, goals } }) => ({
      name,
      title,
      rows,
      goals: goals.map((goal) => ({ ...goal, verdict: verdict(goal) })),
    }));
    await writeFile(options.json, `${JSON.stringify({ machine, works }, null, 2)}\n`);
  }
  if (options.markdown !== undefined) await writeMarkdown(options.markdown, machine, results);
}

await runCommandLine(main);
