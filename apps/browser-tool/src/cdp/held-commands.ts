import type { Page } from './page.ts';

const CHECK_MS = 250;
// Longer than an action waits for the document of a navigation, so that actions have answered by then.
const PATIENCE_MS = 12_000;

/**
 * While a command runs: gives a navigation up whose server does not answer. The browser holds back whatever is asked of a page
 * from the start of a navigation until its document comes; after that, the document that was there answers again.
 * Answers how to stop.
 */
export function watchForHold(page: Page): () => void {
  const { loading, changes } = page;
  let heldSince: number | undefined;
  const check = setInterval(() => {
    if (!loading.isUnderWay) heldSince = undefined;
    else heldSince ??= performance.now();
    if (heldSince === undefined || performance.now() - heldSince < PATIENCE_MS) return;
    heldSince = undefined;
    const stopped = (): void => {
      loading.giveUp();
      changes.emit();
    };
    page.send('Page.stopLoading').then(stopped, stopped);
  }, CHECK_MS);
  return () => clearInterval(check);
}

/** What came of some work, or undefined where the page holds it back for longer than this. */
export async function inTime<Result>(
  work: Promise<Result>,
  timeoutMs: number,
): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
