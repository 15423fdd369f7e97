import { withTimeout } from '@model-gateway/kernel';
import type { CdpConnection } from './cdp-connection.ts';

const CHECK_MS = 1_000;
const SILENCE_MS = 5_000;
const RESPONSE_MS = 5_000;

/** Pings a browser that has sent nothing for a while, and reports it if it does not respond. Returns a function that stops. */
export function watchForSilence(connection: CdpConnection, onUnresponsive: () => void): () => void {
  let isChecking = false;
  const ping = async (): Promise<void> => {
    isChecking = true;
    const response = connection.send('Browser.getVersion').catch(() => undefined);
    await withTimeout(response, RESPONSE_MS, onUnresponsive);
    isChecking = false;
  };
  const check = setInterval(() => {
    if (!isChecking && performance.now() - connection.lastMessageAt > SILENCE_MS) void ping();
  }, CHECK_MS);
  return () => clearInterval(check);
}
