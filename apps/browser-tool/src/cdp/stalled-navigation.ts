import type { Page } from './page.ts';

const CHECK_MS = 250;
// Longer than an action waits for the document of a navigation, so that actions have answered by then.
const STALL_TIMEOUT_MS = 12_000;

/**
 * While a command runs: gives a navigation up whose server does not answer. The browser holds back whatever is asked of a page
 * from the start of a navigation until its document comes; after that, the document that was there answers again.
 * Answers how to stop.
 */
export function stopStalledNavigations(page: Page): () => void {
  const { loading, changes } = page;
  let stalledSince: number | undefined;
  const check = setInterval(() => {
    if (!loading.isNavigating) stalledSince = undefined;
    else stalledSince ??= performance.now();
    if (stalledSince === undefined || performance.now() - stalledSince < STALL_TIMEOUT_MS) return;
    stalledSince = undefined;
    const stopped = (): void => {
      loading.markStopped();
      changes.emit();
    };
    page.send('Page.stopLoading').then(stopped, stopped);
  }, CHECK_MS);
  return () => clearInterval(check);
}
