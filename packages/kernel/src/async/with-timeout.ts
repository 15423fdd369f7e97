import { startPeerTimeout, type PeerTimeout } from './peer-timeout.ts';

/** Settles as the work does. When it takes longer, `onTimeout` gives the result or throws; the work goes on. */
export function withTimeout<Result, Late = never>(
  work: Promise<Result>,
  timeoutMs: number,
  onTimeout: () => Late = () => {
    throw new Error(`not done within ${timeoutMs} ms`);
  },
): Promise<Result | Late> {
  let timer: PeerTimeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = startPeerTimeout(timeoutMs, resolve);
  }).then(onTimeout);
  return Promise.race([work, late]).finally(() => timer?.stop());
}
