// `pnpm bench:gateway`: measures our gateway and its peers in one run, and prints the results.
import { createCandidates } from './candidates.mjs';
import { readOptions, USAGE } from './options.mjs';
import { print, textReport, withVerdicts, writeJson, writeMarkdown } from './report.mjs';
import { runBench, runCommandLine } from './run.mjs';
import { WORKLOADS } from './workloads/index.mjs';

async function measure(run) {
  const { options, machine, progress, signal } = run;
  const candidates = await createCandidates(run);
  print(`\n${machine}`);
  for (const note of candidates.notes) print(note);
  const results = [];
  for (const workload of WORKLOADS.filter(({ name }) => options.workloads.includes(name))) {
    signal.throwIfAborted();
    const result = await workload.run({ ...run, candidates });
    results.push({ workload, result });
    progress('');
    print(textReport(workload, result));
    // After each workload, so that a failure does not lose earlier results.
    await keep(options, machine, results);
  }
}

async function keep(options, machine, results) {
  const workloads = results.map(({ workload: { name, title }, result: { rows, goals } }) => ({
    name,
    title,
    rows,
    goals: withVerdicts(goals),
  }));
  writeJson(options, { machine, workloads });
  if (options.markdown !== undefined) await writeMarkdown(options.markdown, machine, results);
}

await runCommandLine({
  usage: USAGE,
  readOptions: (args) =>
    readOptions(
      args,
      WORKLOADS.map(({ name }) => name),
    ),
  main: (options) => runBench({ options }, measure),
});
