import type { Arbitrary } from 'fast-check';
import type { AnyScene, Target } from '../target.ts';

/** The cases of a target, once its models have no route that a case of another target has set. */
export async function casesOf(target: Target, scene: AnyScene): Promise<Arbitrary<unknown>> {
  await scene.ensureRunning();
  if (scene.kind === 'service') await scene.restoreRouting();
  return target.cases(scene);
}
