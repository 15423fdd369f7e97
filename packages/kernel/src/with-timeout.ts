/** Settles as the work does. When it takes longer, `onTimeout` gives the result or throws; the work goes on. */
export function withTimeout<Result, Late = never>(
  work: Promise<Result>,
  timeoutMs: number,
  onTimeout: () => Late = () => {
    throw new Error(`not done within ${timeoutMs} ms`);
  },
): Promise<Result | Late> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  }).then(onTimeout);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
