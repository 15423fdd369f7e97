import type { CdpConnection } from '../cdp-connection.ts';

const CHECK_MS = 1_000;
const SILENCE_MS = 5_000;
const SILENT_CHECKS_MAX = 5;

/**
 * Pings a browser that has sent nothing for a while, and reports it if it stays silent. Returns a function that stops. Checks are
 * counted instead of time: between two of them the tool reads what has arrived, even if it got no CPU for a while.
 */
export function watchForSilence(connection: CdpConnection, onUnresponsive: () => void): () => void {
  let silentChecks = 0;
  const check = setInterval(() => {
    if (performance.now() - connection.lastMessageAt <= SILENCE_MS) {
      silentChecks = 0;
      return;
    }
    if (silentChecks === 0) connection.send('Browser.getVersion').catch(() => undefined);
    silentChecks += 1;
    if (silentChecks <= SILENT_CHECKS_MAX) return;
    clearInterval(check);
    onUnresponsive();
  }, CHECK_MS);
  return () => clearInterval(check);
}
