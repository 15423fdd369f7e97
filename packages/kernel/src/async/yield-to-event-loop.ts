/** Resolves after other waiting work has run. Long computations await it between their steps. */
export const yieldToEventLoop = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
