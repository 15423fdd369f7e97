import type { Page } from '../page/page.ts';

const CHECK_MS = 250;
// Longer than an action waits for the document of a navigation, so that actions have finished by then.
const STALL_TIMEOUT_MS = 12_000;

/**
 * Stops a navigation whose server does not respond, while a command runs. From the start of a navigation until its document loads,
 * the browser delays all commands for the page; after a stop the previous document responds again.
 * Returns a function that ends the check.
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
