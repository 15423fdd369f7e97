/** Cleanup steps, run in reverse; a step added after that runs immediately. */
export interface Undo {
  add(step: () => unknown): void;
  /** Resolves when every step has finished; failures are ignored. */
  run(): Promise<void>;
}

export function createUndo(): Undo {
  const steps: (() => unknown)[] = [];
  let isDone = false;
  return {
    add(step) {
      if (isDone) step();
      else steps.push(step);
    },
    async run() {
      isDone = true;
      await Promise.allSettled(
        steps
          .splice(0)
          .toReversed()
          .map((step) => step()),
      );
    },
  };
}
