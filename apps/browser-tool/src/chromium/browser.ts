import { createDeferred, withTimeout } from '@model-gateway/kernel';
import type { Protocol } from 'devtools-protocol';
import { clipText } from '../capture/clip-text.ts';
import type { EngineCall, CallNotes, EngineContext, Viewport } from '../engine.ts';
import { ToolError } from '../errors.ts';
import type { CdpEvent, CdpConnection } from './cdp-connection.ts';
import { createPage, type Page, type PageEnvironment } from './page/page.ts';
import type { ProxyLogin } from './process/proxy-login.ts';
import { createRequestRules } from './capture/request-rules.ts';

/** The tabs of a browser. Commands always go to the active tab. */
export interface Browser {
  /** The active tab once it is ready; opens a new one if there is none. */
  activePage(): Promise<Page>;
  /** The active tab in its current state, without waiting. */
  readonly current: Page | undefined;
  /** The tab that sent a captured request, by the id of its entry. */
  pageOfRequest(entryId: string): Page | undefined;
  /** The last tab that a page opened, and the URL that it was opened with, if a script did. */
  readonly opened: { readonly page: Page; readonly url: string | undefined } | undefined;
  /** Starts reporting dialogs, downloads and new tabs to this call. If it fails, a new tab is reported to the next call. */
  begin(call: EngineCall): (outcome: 'succeeded' | 'failed') => void;
  /** Closes the active tab and opens a new one in its place. */
  replacePage(): Promise<Page>;
  resize(viewport: Viewport, deviceScaleFactor: number, mobile: boolean): Promise<void>;
  readonly viewport: Viewport;
  /** Device pixels per CSS pixel. */
  readonly deviceScaleFactor: number;
}

const ONLY_PAGES = [{ type: 'page' }, { exclude: true }];
const FIRST_PAGE_TIMEOUT_MS = 10_000;
/** No file system has longer names, but a page may suggest one. */
const FILENAME_CHARS_MAX = 255;
const DOWNLOADS_MAX = 100;
const CLOSING_CHECK_MS = 500;
const CLOSE_TIMEOUT_MS = 2_000;

/** Attaches to a browser that just started. */
export async function createBrowser(
  connection: CdpConnection,
  context: Pick<
    EngineContext,
    'captures' | 'viewport' | 'allowedOrigins' | 'tabsMax' | 'log' | 'signal'
  >,
  login: ProxyLogin | undefined,
): Promise<Browser> {
  const pages: Page[] = [];
  const rules = createRequestRules(connection, context.allowedOrigins, login);
  let active: Page | undefined;
  let call: EngineCall | undefined;
  const pendingNotes = emptyNotes();
  let opened: Browser['opened'];
  // The next tab is the tool's own.
  let isOpening = false;
  // Arrives before the tab itself.
  let openedUrl: string | undefined;
  let metrics = metricsOf(context.viewport, 1, false);
  const first = createDeferred();

  const environment: PageEnvironment = {
    captures: context.captures,
    notes: () => call?.notes ?? pendingNotes,
    dialogAnswer: () => ({ answer: call?.dialog, promptText: call?.promptText }),
    viewport: () => [metrics.width, metrics.height],
    metrics: () => metrics,
    enableRequestRules: (sessionId) => rules.enable(sessionId),
    isActive: (page) => page === active,
    onWindowOpen: ({ url, userGesture }) => {
      // The popup blocker opens no tab for the others.
      if (userGesture) openedUrl = url;
    },
  };

  function attached({ sessionId, targetInfo }: Protocol.Target.AttachedToTargetEvent): void {
    // A click with a key pressed, or with the middle button, opens a tab without an opener.
    const isPopup = active !== undefined && !active.hasEnded && !isOpening;
    const url = isPopup ? openedUrl : undefined;
    if (isPopup) openedUrl = undefined;
    if (isPopup && pages.length >= context.tabsMax) {
      void refuseTab(targetInfo.targetId, sessionId);
      environment.notes().openedTab ??= {
        url: (url ?? targetInfo.url) || 'about:blank',
        closed: true,
      };
      return;
    }
    const page = createPage(connection, environment, targetInfo.targetId, sessionId);
    // Commands await it; a tab that closes before that is not an error.
    page.ready.catch(() => undefined);
    pages.push(page);
    active = page;
    if (isPopup) {
      opened = { page, url };
      environment.notes().openedTab = { url: '' };
    }
    first.resolve();
  }

  /** Closes a tab before it loads anything. A page that opens a tab waits until the tab has started. */
  async function refuseTab(targetId: string, sessionId: string): Promise<void> {
    // Its requests are held until it is closed.
    void connection.send('Fetch.enable', {}, sessionId).catch(() => undefined);
    await connection
      .send('Runtime.runIfWaitingForDebugger', undefined, sessionId)
      .catch(() => undefined);
    closeTarget(targetId);
  }

  function closeTarget(targetId: string): void {
    void connection.send('Target.closeTarget', { targetId }).catch(() => undefined);
  }

  function detached(sessionId: string): void {
    const index = pages.findIndex((page) => page.sessionId === sessionId);
    const [page] = index < 0 ? [] : pages.splice(index, 1);
    if (page === undefined) return;
    page.end('closed');
    if (active === page) active = pages.at(-1);
  }

  connection.listen((event) => {
    if (event.sessionId === undefined) onBrowser(event);
    else {
      const { sessionId } = event;
      const page = pages.find((each) => each.owns(sessionId));
      // A refused tab has none, and its requests are not continued.
      if (page === undefined) return;
      rules.handle(event);
      page.handle(event);
    }
  });

  function onBrowser(event: CdpEvent): void {
    switch (event.method) {
      case 'Target.attachedToTarget':
        attached(event.params);
        break;
      case 'Target.detachedFromTarget':
        detached(event.params.sessionId);
        break;
      case 'Target.targetCrashed':
        pages.find((page) => page.targetId === event.params.targetId)?.end('crashed');
        break;
      case 'Browser.downloadWillBegin': {
        const { url, suggestedFilename } = event.params;
        const { downloads } = environment.notes();
        if (downloads.length < DOWNLOADS_MAX)
          downloads.push({
            url,
            filename: clipText(suggestedFilename, FILENAME_CHARS_MAX),
            action: 'denied',
          });
        active?.changes.emit();
        break;
      }
      default:
    }
  }

  async function openPage(): Promise<Page> {
    context.captures.console.startPage();
    isOpening = true;
    try {
      await connection.send('Target.createTarget', { url: 'about:blank' });
    } finally {
      isOpening = false;
    }
    if (active === undefined) throw new ToolError('BROWSER_CRASHED', 'The browser opened no tab.');
    await active.ready;
    return active;
  }

  await Promise.all([
    connection.send('Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: true,
      flatten: true,
      filter: ONLY_PAGES,
    }),
    connection.send('Target.setDiscoverTargets', { discover: true, filter: ONLY_PAGES }),
    connection.send('Browser.setDownloadBehavior', { behavior: 'deny', eventsEnabled: true }),
  ]);
  await withTimeout(first.promise, FIRST_PAGE_TIMEOUT_MS, () => undefined);

  return {
    get current() {
      return active;
    },
    get opened() {
      return opened;
    },
    pageOfRequest: (entryId) => pages.find((page) => page.sourceOf(entryId) !== undefined),
    get viewport(): Viewport {
      return [metrics.width, metrics.height];
    },
    get deviceScaleFactor() {
      return metrics.deviceScaleFactor;
    },
    async activePage() {
      for (;;) {
        const page = active;
        if (page === undefined) return openPage();
        // A popup may be about to close itself.
        const isUnloading = pages.length > 1 && (await isClosing(page));
        const options = { timeoutMs: isUnloading ? CLOSE_TIMEOUT_MS : 0, signal: context.signal };
        if (await page.changes.until(() => page !== active, options)) continue;
        await page.ready;
        return page;
      }
    },
    begin(next) {
      if (next.isSilent === true) return () => undefined;
      call = next;
      moveNotes(pendingNotes, next.notes);
      return (outcome) => {
        if (call === next) call = undefined;
        if (outcome === 'failed') moveTab(next.notes, pendingNotes);
      };
    },
    async replacePage() {
      const old = active;
      const page = await openPage();
      if (old !== undefined && old !== page) closeTarget(old.targetId);
      return page;
    },
    async resize(viewport, deviceScaleFactor, mobile) {
      metrics = metricsOf(viewport, deviceScaleFactor, mobile);
      await Promise.all(
        pages.map((page) => page.send('Emulation.setDeviceMetricsOverride', metrics)),
      );
    },
  };
}

/** Whether a tab is closing. */
async function isClosing(page: Page): Promise<boolean> {
  if (page.loading.isNavigating) return false;
  const isClosed = page.ready
    .then(() => page.send('Runtime.evaluate', { expression: 'closed' }))
    .then(
      ({ result }) => result.value === true,
      () => true,
    );
  return withTimeout(isClosed, CLOSING_CHECK_MS, () => false);
}

function metricsOf([width, height]: Viewport, deviceScaleFactor: number, mobile: boolean) {
  return { width, height, deviceScaleFactor, mobile };
}

function emptyNotes(): CallNotes {
  return { dialogs: [], downloads: [], openedTab: undefined };
}

/** Adds to the existing notes: one call may run several commands. */
function moveNotes(from: CallNotes, to: CallNotes): void {
  to.dialogs.push(...from.dialogs.splice(0));
  to.downloads.push(...from.downloads.splice(0));
  moveTab(from, to);
}

function moveTab(from: CallNotes, to: CallNotes): void {
  to.openedTab = from.openedTab ?? to.openedTab;
  from.openedTab = undefined;
}
