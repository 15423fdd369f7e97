import { startDeployment, type Deployment } from './deployment/deployment.ts';
import { endingEarly, print, readOrExit } from './command.ts';
import { describeFaults, outagesOf, planOf, type Fault } from './faults/plan.ts';
import { readOptions, USAGE } from './options.ts';
import {
  outcomeTable,
  reportOf,
  TABLE_HEAD,
  tableRow,
  violationsOf,
  wrongBooks,
} from './run/report.ts';
import { runRollingRestart } from './run/rolling-restart.ts';
import { runChaos } from './run/run-chaos.ts';

interface LoadSize {
  readonly seed: number;
  readonly clients: number;
  readonly thinkMsMax: number;
}

const THINK_MS_MAX = 300;
const CALM_REQUESTS = 40;
const CALM_SECONDS = 5;

const { seed, seeds, steps, clients, recoverySeconds, outages, isRolling, isPlanOnly } = readOrExit(
  readOptions,
  USAGE,
);
const signal = endingEarly();
const rows: string[] = [];
for (let each = seed; each < seed + seeds && !signal.aborted; each += 1) await run(each);
if (rows.length > 1) for (const line of [...TABLE_HEAD, ...rows]) print(line);

async function run(each: number): Promise<void> {
  const load = { seed: each, clients, thinkMsMax: THINK_MS_MAX };
  const broken = outages === undefined ? planOf(each, steps) : outagesOf(outages);
  const plan = isRolling ? [] : broken;
  print(isRolling ? `seed ${each}, rolling restart` : `seed ${each}, ${plan.length} steps`);
  for (const [index, faults] of plan.entries()) print(`  ${index + 1}. ${describeFaults(faults)}`);
  if (isPlanOnly) return;
  const deployment = await startDeployment({ seed: each, areUpstreamsFaulty: !isRolling });
  try {
    print(`started ${[...deployment.processes.keys()].join(', ')}`);
    const violations = await (isRolling
      ? roll(deployment, load)
      : breakParts(deployment, load, plan));
    for (const violation of violations) print(`FAILED ${violation}`);
    print(`seed ${each}: ${violations.length === 0 ? 'passed' : 'failed'}`);
    if (violations.length > 0) process.exitCode = 1;
  } finally {
    await deployment.close();
  }
}

async function breakParts(
  deployment: Deployment,
  load: LoadSize,
  plan: readonly (readonly Fault[])[],
): Promise<readonly string[]> {
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
  rows.push(tableRow(load.seed, result));
  return violationsOf(result, recoverySeconds);
}

async function roll(deployment: Deployment, load: LoadSize): Promise<readonly string[]> {
  const result = await runRollingRestart({ ...load, deployment, onStep: print, signal });
  for (const line of ['', ...outcomeTable(result.sent), '', ...result.errors]) print(line);
  return [
    ...result.failed.map(({ kind, outcome }) => `${kind}: ${outcome.name} ${outcome.detail ?? ''}`),
    ...wrongBooks(result.differences),
    ...result.problems,
  ];
}
