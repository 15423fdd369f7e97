import { startDeployment, type Deployment } from './deployment/deployment.ts';
import { endingEarly, print, readOrExit } from './command.ts';
import { describeFaults, planOf } from './faults/plan.ts';
import { readOptions, USAGE } from './options.ts';
import { outcomeTable, reportOf, violationsOf, wrongBooks } from './run/report.ts';
import { runRollingRestart } from './run/rolling-restart.ts';
import { runChaos } from './run/run-chaos.ts';

const THINK_MS_MAX = 300;
const CALM_REQUESTS = 40;
const CALM_SECONDS = 5;

const { seed, steps, clients, recoverySeconds, isRolling, isPlanOnly } = readOrExit(
  readOptions,
  USAGE,
);
const load = { seed, clients, thinkMsMax: THINK_MS_MAX };
const plan = planOf(seed, steps);
print(isRolling ? `seed ${seed}, rolling restart` : `seed ${seed}, ${plan.length} steps`);
if (!isRolling)
  for (const [index, faults] of plan.entries()) print(`  ${index + 1}. ${describeFaults(faults)}`);
if (!isPlanOnly) {
  const signal = endingEarly();
  const deployment = await startDeployment({ seed, areUpstreamsFaulty: !isRolling });
  try {
    print(`started ${[...deployment.processes.keys()].join(', ')}`);
    const violations = await (isRolling
      ? roll(deployment, signal)
      : breakParts(deployment, signal));
    for (const violation of violations) print(`FAILED ${violation}`);
    print(`seed ${seed}: ${violations.length === 0 ? 'passed' : 'failed'}`);
    process.exitCode = violations.length === 0 ? 0 : 1;
  } finally {
    await deployment.close();
  }
}

async function breakParts(deployment: Deployment, signal: AbortSignal): Promise<readonly string[]> {
  const result = await runChaos({
    ...load,
    deployment,
    plan,
    calmRequests: CALM_REQUESTS,
    calmSeconds: CALM_SECONDS,
    onStep: print,
    signal,
  });
  for (const line of ['', ...reportOf(result), '']) print(line);
  return violationsOf(result, recoverySeconds);
}

async function roll(deployment: Deployment, signal: AbortSignal): Promise<readonly string[]> {
  const result = await runRollingRestart({ ...load, deployment, onStep: print, signal });
  for (const line of ['', ...outcomeTable(result.sent), '', ...result.errors]) print(line);
  return [
    ...result.failed.map(({ kind, outcome }) => `${kind}: ${outcome.name} ${outcome.detail ?? ''}`),
    ...wrongBooks(result.differences),
    ...result.problems,
  ];
}
