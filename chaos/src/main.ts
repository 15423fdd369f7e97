import { startDeployment } from './deployment/deployment.ts';
import { describeFaults, planOf } from './faults/plan.ts';
import { readOptions, USAGE, type Options } from './options.ts';
import { reportOf, violationsOf } from './run/report.ts';
import { runChaos } from './run/run-chaos.ts';

const THINK_MS_MAX = 300;
const CALM_REQUESTS = 40;
const CALM_SECONDS = 5;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function optionsOrExit(): Options {
  try {
    const options = readOptions(process.argv.slice(2));
    if (!options.help) return options;
    print(USAGE);
    return process.exit(0);
  } catch (error) {
    process.stderr.write(`${String(error)}\n\n${USAGE}`);
    return process.exit(2);
  }
}

const { seed, steps, clients, recoverySeconds, isPlanOnly } = optionsOrExit();
const plan = planOf(seed, steps);
print(`seed ${seed}, ${plan.length} steps`);
for (const [index, faults] of plan.entries()) print(`  ${index + 1}. ${describeFaults(faults)}`);
if (!isPlanOnly) await run();

async function run(): Promise<void> {
  const leaving = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => {
      print('ending early');
      leaving.abort();
    });
  const deployment = await startDeployment(seed);
  try {
    print(`started ${[...deployment.processes.keys()].join(', ')}`);
    const result = await runChaos({
      deployment,
      plan,
      seed,
      clients,
      thinkMsMax: THINK_MS_MAX,
      calmRequests: CALM_REQUESTS,
      calmSeconds: CALM_SECONDS,
      onStep: print,
      signal: leaving.signal,
    });
    for (const line of ['', ...reportOf(result), '']) print(line);
    const violations = violationsOf(result, recoverySeconds);
    for (const violation of violations) print(`FAILED ${violation}`);
    print(violations.length === 0 ? `seed ${seed}: passed` : `seed ${seed}: failed`);
    process.exitCode = violations.length === 0 ? 0 : 1;
  } finally {
    await deployment.close();
  }
}
