import type { EngineCall } from '../../engine.ts';
import { isDocumentUnloaded, type PageScripts } from '../page/page-scripts.ts';
import type { Page } from '../page/page.ts';

/** The state of a page before an action. */
export interface SettleMark {
  /** The frame that the action is for, whose document another process may have. */
  readonly frameId: string;
  readonly startedNavigations: number;
  readonly shownDocuments: number;
  readonly loaderId: string;
  readonly nextRequest: number;
}

/** How long a navigation of an action may take to start. */
const NAVIGATION_START_MS = 50;
const DOCUMENT_TIMEOUT_MS = 10_000;
const LOAD_TIMEOUT_MS = 1_000;
const QUIET_MS = 30;
const CAP_MS = 1_000;

/** To be called right before an action. */
export function markPage(page: Page, frameId: string = page.main.id): SettleMark {
  return {
    frameId,
    startedNavigations: page.loading.started,
    shownDocuments: page.loading.shown,
    loaderId: page.loading.loaderId,
    nextRequest: page.requests.next,
  };
}

/**
 * Waits until a page settles after an action: its navigation has shown the document, or the document stopped changing and all
 * requests of the action have a response. Returns whether the page navigated.
 */
export async function settle(
  page: Page,
  scripts: PageScripts,
  mark: SettleMark,
  call: EngineCall,
  navigationStartMs = NAVIGATION_START_MS,
): Promise<boolean> {
  const end = performance.now() + CAP_MS;
  const { signal } = call;
  const hasNavigated = (): boolean => page.loading.shown > mark.shownDocuments;
  const isNavigating = (): boolean =>
    page.loading.isNavigating && page.loading.started > mark.startedNavigations;
  const isOver = (): boolean => page.hasEnded || performance.now() >= end;

  const awaitQuietPage = (): Promise<unknown> =>
    Promise.all(
      [...new Set([page.main.id, mark.frameId])].map((frameId) =>
        awaitQuiet(page, frameId, scripts, call, end),
      ),
    );
  const quiet = awaitQuietPage();
  quiet.catch(() => undefined);
  // A link navigates at once, a handler may take a moment; later navigations do not count for this action.
  if (navigationStartMs > 0) {
    await page.changes.until(() => isNavigating() || page.hasEnded, {
      timeoutMs: navigationStartMs,
      signal,
    });
  }
  if (isNavigating() || (hasNavigated() && !page.loading.hasContent)) {
    await awaitDocument(page, call);
    return hasNavigated();
  }
  await quiet;
  while (!isOver() && !isNavigating() && page.requests.countFrom(mark.nextRequest) > 0) {
    await page.changes.until(
      () => isNavigating() || isOver() || page.requests.countFrom(mark.nextRequest) === 0,
      { timeoutMs: Math.max(0, end - performance.now()), signal },
    );
    // The response may change the page.
    if (!isOver() && !isNavigating()) await awaitQuietPage();
  }
  if (isNavigating()) await awaitDocument(page, call);
  return hasNavigated();
}

/** Waits for the document of a started navigation, then for a limited time for its load event. */
async function awaitDocument(page: Page, { signal }: EngineCall): Promise<void> {
  const { loading, changes } = page;
  // A navigation without a document, such as a download, keeps the previous document, which has already loaded.
  await changes.until(() => page.hasEnded || (!loading.isNavigating && loading.hasContent), {
    timeoutMs: DOCUMENT_TIMEOUT_MS,
    signal,
  });
  if (loading.isNavigating) return;
  await changes.until(() => page.hasEnded || loading.hasLoaded, {
    timeoutMs: LOAD_TIMEOUT_MS,
    signal,
  });
}

async function awaitQuiet(
  page: Page,
  frameId: string,
  scripts: PageScripts,
  call: EngineCall,
  end: number,
): Promise<void> {
  const capMs = Math.max(0, end - performance.now());
  try {
    await Promise.race([
      scripts.call(page, frameId, 'quiet', { quietMs: QUIET_MS, capMs }, call),
      page.ended,
      new Promise((resolve) => setTimeout(resolve, capMs).unref()),
    ]);
  } catch (error) {
    if (!isDocumentUnloaded(error)) throw error;
  }
}
