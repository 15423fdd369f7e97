// `pnpm bench:gateway`: measures our gateway and its peers in one run, and prints the results.
import { createContestants } from './contestants.mjs';
import { readOptions, USAGE } from './options.mjs';
import { print, textReport, withVerdicts, writeJson, writeMarkdown } from './report.mjs';
import { runBench, runCommandLine } from './run.mjs';
import { WORKS } from './works/index.mjs';

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
  const works = results.map(({ work: { name, title }, result: { rows, goals } }) => ({
    name,
    title,
    rows,
    goals: withVerdicts(goals),
  }));
  writeJson(options, { machine, works });
  if (options.markdown !== undefined) await writeMarkdown(options.markdown, machine, results);
}

await runCommandLine({
  usage: USAGE,
  readOptions: (args) =>
    readOptions(
      args,
      WORKS.map(({ name }) => name),
    ),
  main: (options) => runBench({ options }, measure),
});
