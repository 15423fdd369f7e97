import { withTimeout } from '@model-gateway/kernel';
import type { CdpConnection } from './cdp-connection.ts';

const CHECK_MS = 1_000;
const SILENCE_MS = 5_000;
const ANSWER_MS = 5_000;

/** While a command runs: asks a browser that has long said nothing, and gives it up when it does not answer. Answers how to stop. */
export function watchForSilence(connection: CdpConnection, onUnresponsive: () => void): () => void {
  let isChecking = false;
  const ping = async (): Promise<void> => {
    isChecking = true;
    const answer = connection.send('Browser.getVersion').catch(() => undefined);
    await withTimeout(answer, ANSWER_MS, onUnresponsive);
    isChecking = false;
  };
  const check = setInterval(() => {
    if (!isChecking && performance.now() - connection.lastMessageAt > SILENCE_MS) void ping();
  }, CHECK_MS);
  return () => clearInterval(check);
}
