import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@model-gateway/testkit';
import type { Differences } from '../books/check-books.ts';
import type { Deployment } from '../deployment/deployment.ts';
import { inflict } from '../faults/inflict.ts';
import { describeFaults, type Fault } from '../faults/plan.ts';
import { recovered } from '../faults/recovery.ts';
import type { Sent } from '../load/outcome.ts';
import { startLoad } from '../load/run-load.ts';
import { readProcessStates, type ProcessState } from './processes-state.ts';
import { settle } from './settle.ts';
import { timed } from './timed.ts';

/** One step of a run: faults, and how long the deployment took to serve everything again. */
export interface Step {
  readonly faults: readonly Fault[];
  readonly recoveryMs: number;
}

/** What a run found. */
export interface ChaosResult {
  readonly sent: readonly Sent[];
  readonly steps: readonly Step[];
  readonly rows: number;
  readonly settledMs: number;
  readonly differences: Differences;
  /** Problems besides the differences in the books. */
  readonly problems: readonly string[];
  readonly before: readonly ProcessState[];
  readonly after: readonly ProcessState[];
}

interface ChaosOptions {
  readonly deployment: Deployment;
  readonly plan: readonly (readonly Fault[])[];
  readonly seed: number;
  readonly clients: number;
  readonly thinkMsMax: number;
  /** Requests that are completed before each step. */
  readonly calmRequests: number;
  /** How many seconds pass before each step, at least. */
  readonly calmSeconds: number;
  readonly onStep?: (text: string) => void;
  /** Ends the faults early; the rest of the run follows. */
  readonly signal?: AbortSignal;
}

const CALM_WITHIN_MS = 180_000;

/** Runs the plan under load, then waits until everything is written and compares the books. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { deployment, plan, signal, onStep } = options;
  const load = startLoad(options);
  const steps: Step[] = [];
  const problems: string[] = [];
  let before: readonly ProcessState[] = [];
  try {
    for (const faults of plan) {
      await calm(options, load.sent);
      if (signal?.aborted === true) break;
      if (before.length === 0) before = readProcessStates(deployment);
      const step = await runStep(deployment, faults);
      steps.push(step);
      onStep?.(`${describeFaults(faults)}: recovered in ${(step.recoveryMs / 1_000).toFixed(1)} s`);
    }
    await calm(options, load.sent);
  } catch (error) {
    problems.push(String(error));
  } finally {
    await load.stop();
  }
  const { settledMs, rows, differences, problems: found } = await settle(deployment, load.sent);
  problems.push(...found);
  return {
    sent: load.sent,
    steps,
    rows,
    settledMs,
    differences,
    problems,
    before,
    after: readProcessStates(deployment),
  };
}

async function runStep(deployment: Deployment, faults: readonly Fault[]): Promise<Step> {
  const begun = faults.map((fault) => inflict(deployment, fault));
  const restarted = Promise.all(begun.map((each) => each.restarted));
  // A failed restart is reported below, after the end of the other faults.
  restarted.catch(() => undefined);
  await Promise.all(begun.map(({ ended }) => ended));
  const recoveryMs = await timed(async () => {
    await restarted;
    await recovered(deployment);
  });
  return { faults, recoveryMs };
}

async function calm(
  { calmRequests, calmSeconds, signal }: ChaosOptions,
  sent: readonly Sent[],
): Promise<void> {
  const completed = (): number => sent.filter(({ outcome }) => outcome.name === 'complete').length;
  const goal = completed() + calmRequests;
  await sleep(calmSeconds * 1_000, undefined, signal === undefined ? {} : { signal }).catch(
    () => undefined,
  );
  await waitUntil(() => signal?.aborted === true || completed() >= goal, {
    timeoutMs: CALM_WITHIN_MS,
    what: `${calmRequests} completed requests`,
  });
}
