import { describeError } from '@model-gateway/kernel';
import type { Arbitrary } from 'fast-check';
import type { AnyScene, Target } from '../target.ts';

/** What a case showed. */
export class Finding extends Error {
  override readonly name = 'Finding';
}

/** Runs one case and throws a finding if something was wrong. */
export async function runCase(target: Target, each: unknown, scene: AnyScene): Promise<void> {
  await scene.ensureRunning();
  const earlier = scene.takeProblems().map((problem) => `after an earlier case: ${problem}`);
  const problems = await target
    .run(each, scene)
    .catch((error: unknown) => [`the case could not be run: ${describeError(error)}`]);
  if (problems.length > 0) await scene.settled();
  const all = [...earlier, ...problems, ...scene.takeProblems()];
  if (all.length > 0) throw new Finding([...new Set(all)].join('\n'));
}

/** The cases of a target, once its models have no route that a case of another target has set. */
export async function casesOf(target: Target, scene: AnyScene): Promise<Arbitrary<unknown>> {
  await scene.ensureRunning();
  if (scene.kind === 'service') await scene.restoreRouting();
  return target.cases(scene);
}
