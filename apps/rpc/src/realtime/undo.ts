/** What has to be undone when something ends, in reverse; what is added after that is undone at once. */
export interface Undo {
  add(step: () => unknown): void;
  /** Resolves when everything is undone, as far as it can be. */
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
