/** What has to be undone when something ends, in reverse; what is added after that is undone at once. */
export interface Undo {
  add(step: () => void): void;
  run(): void;
}

export function createUndo(): Undo {
  const steps: (() => void)[] = [];
  let isDone = false;
  return {
    add(step) {
      if (isDone) step();
      else steps.push(step);
    },
    run() {
      isDone = true;
      for (const step of steps.splice(0).toReversed()) step();
    },
  };
}
