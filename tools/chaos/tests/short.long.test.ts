import { startDeployment, type Deployment } from '../src/deployment/deployment.ts';
import { planOf } from '../src/faults/plan.ts';
import { reportOf, violationsOf } from '../src/run/report.ts';
import { runChaos } from '../src/run/run-chaos.ts';

// The short form of `pnpm --filter chaos start`: few clients, and no limit for the time of a recovery, which depends on the load of
// the machine.

const SEED = 4;
const STEPS = 3;

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ seed: SEED, areUpstreamsFaulty: true });
});
afterAll(() => deployment.close());

test('after faults under load every served request is recorded once, and no points are created or lost', async () => {
  const result = await runChaos({
    deployment,
    plan: planOf(SEED, STEPS),
    seed: SEED,
    clients: 4,
    thinkMsMax: 200,
    calmRequests: 15,
    calmSeconds: 0,
  });
  process.stdout.write(`${reportOf(result).join('\n')}\n`);
  expect(violationsOf(result, Infinity)).toEqual([]);
  expect(result.steps).toHaveLength(STEPS);
  expect(result.rows).toBeGreaterThan(0);
});

test('a seed always gives the same plan, and another seed another one', () => {
  expect(planOf(SEED, 40)).toEqual(planOf(SEED, 40));
  expect(planOf(SEED, 40)).not.toEqual(planOf(SEED + 1, 40));
});
