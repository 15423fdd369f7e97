import { yieldToEventLoop } from '../async/yield-to-event-loop.ts';

/** How long a computation runs before other work gets its turn. */
const STEP_MS = 20;

/**
 * For a long computation in small pieces: called between them, it pauses once a step has taken its time, so that the process
 * serves other requests. Undefined when no pause is due.
 */
export function createStepPauses(stepMs = STEP_MS): () => Promise<void> | undefined {
  let stepStartedAt = performance.now();
  async function pause(): Promise<void> {
    await yieldToEventLoop();
    stepStartedAt = performance.now();
  }
  return () => (performance.now() - stepStartedAt < stepMs ? undefined : pause());
}
