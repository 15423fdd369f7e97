import { describeError, raceAbort, withTimeout } from '@model-gateway/kernel';
import type {
  BrowserEngine,
  EngineCall,
  EngineContext,
  EngineStatus,
  ResponseBody,
  WaitOutcome,
  WaitRequest,
} from '../engine.ts';
import type { ResolvedBrowser } from '../resolve/index.ts';
import { notReadyError } from '../session/not-ready.ts';
import { parseTarget } from '../session/target.ts';
import { ToolError } from '../tool-error.ts';
import { createActions } from './actions.ts';
import { readAddress } from './address.ts';
import { createPageScripts, isDocumentUnloaded } from './page-scripts.ts';
import { createBrowser, type Browser } from './browser.ts';
import { connectToBrowser, type CdpConnection } from './cdp-connection.ts';
import { createElements } from './elements.ts';
import { evaluate } from './evaluate.ts';
import { shownUrl } from './frames.ts';
import { stopStalledNavigations } from './stalled-navigation.ts';
import { launchChromium, type RunningChromium } from './launch.ts';
import { navigate, traverse } from './navigation.ts';
import type { RequestSource } from './network-capture.ts';
import type { Page } from './page.ts';
import { proxyServer } from './request-rules.ts';
import { screenshot } from './screenshot.ts';
import { snapshot } from './snapshot.ts';
import { watchForSilence } from './watchdog.ts';

const WAIT_PAUSES_MS = [0, 16, 50];
const WAIT_PAUSE_MS = 100;
// Even one who does not want to wait wants an answer.
const LOOK_MS = 1_000;
const PING_TIMEOUT_MS = 2_000;
const START_PAGE_MS = 10_000;

type ResolvedChromium = Extract<ResolvedBrowser, { readonly kind: 'cdp' }>;

/** Starts a Chromium and drives it over the DevTools protocol. */
export async function launchCdpEngine(
  resolved: ResolvedChromium,
  context: EngineContext,
): Promise<BrowserEngine> {
  const { viewport, signal, log, proxy } = context;
  const chromium = await launchChromium({
    executable: resolved.executable,
    libraryFolder: resolved.libraryFolder,
    viewport,
    proxyServer: proxy === undefined ? undefined : proxyServer(proxy),
    allowedOrigins: context.allowedOrigins,
    signal,
    log,
  });
  try {
    const connection = await connectToBrowser(chromium.port, chromium.path);
    const browser = await createBrowser(connection, context);
    const { product } = await connection.send('Browser.getVersion');
    const version = product.split('/').at(-1) ?? product;
    await openStart(browser, context);
    return createCdpEngine({ chromium, connection, browser, version }, context);
  } catch (error) {
    await chromium.end();
    throw error;
  }
}

/** Shows the page that the browser starts with; one that cannot be opened is no reason to have no browser. */
async function openStart(
  browser: Browser,
  { startUrl, log, signal }: EngineContext,
): Promise<void> {
  if (startUrl === 'about:blank') return;
  const page = await browser.activePage();
  const { loading, changes } = page;
  const { shown } = loading;
  let problem: string | undefined;
  const told = (text: string | undefined): void => {
    problem = text;
    changes.emit();
  };
  page.send('Page.navigate', { url: startUrl }).then(
    ({ errorText }) => told(errorText),
    (error: unknown) => told(describeError(error)),
  );
  // The browser answers before it shows the document, and a command that came then would take the document's place.
  const isThere = await changes.until(
    () =>
      problem !== undefined ||
      page.isGone ||
      (loading.shown > shown && !loading.isNavigating && loading.reached('DOMContentLoaded')),
    { timeoutMs: START_PAGE_MS, signal },
  );
  if (isThere && problem === undefined) return;
  log.warn({ url: startUrl, problem: problem ?? 'late' }, 'the start page was not opened');
}

interface Parts {
  readonly chromium: RunningChromium;
  readonly connection: CdpConnection;
  readonly browser: Browser;
  readonly version: string;
}

function createCdpEngine(
  { chromium, connection, browser, version }: Parts,
  { refs, onEnd, captures, log }: EngineContext,
): BrowserEngine {
  const scripts = createPageScripts(refs);
  const elements = createElements(scripts, refs);
  const actions = createActions(browser, scripts, elements);
  let isClosing = false;
  void Promise.race([
    chromium.exited,
    connection.closed.then(() => 'it closed its connection'),
  ]).then(async (how) => {
    if (isClosing) return;
    captures.events.publish('crash', { reason: how });
    onEnd(how);
    await chromium.end();
  });

  /** Runs a command on the active tab; a crash or the deadline ends it wherever it is. Those that wait for pages let them come late. */
  async function onPage<Result>(
    call: EngineCall,
    work: (page: Page) => Promise<Result>,
    isWaiting = false,
  ): Promise<Result> {
    call.signal.throwIfAborted();
    const finished = browser.begin(call);
    const stopWatching = watchForSilence(connection, () => {
      log.warn({ pid: chromium.pid }, 'the browser does not answer: it is ended');
      void chromium.end();
    });
    let stopHold: () => void = () => undefined;
    let ending: 'answered' | 'failed' = 'failed';
    try {
      const page = await raceAbort(browser.activePage(), call.signal);
      if (!isWaiting) stopHold = stopStalledNavigations(page);
      if (page.isCrashed) throw crashError(page);
      const crashed = page.ended.then((how) =>
        how === 'crashed' ? Promise.reject(crashError(page)) : new Promise<never>(() => undefined),
      );
      crashed.catch(() => undefined);
      const named = async (): Promise<Result> => {
        await actions.reportOpenedTab(call);
        const result = await work(page);
        await actions.reportOpenedTab(call);
        return result;
      };
      const result = await raceAbort(Promise.race([named(), crashed]), call.signal);
      ending = 'answered';
      return result;
    } catch (error) {
      if (!isDocumentUnloaded(error)) throw error;
      throw navigatedError(browser.current);
    } finally {
      stopHold();
      stopWatching();
      finished(ending);
    }
  }

  async function waitFor(
    first: Page,
    request: WaitRequest,
    call: EngineCall,
  ): Promise<WaitOutcome> {
    const { target, state, timeoutMs } = request;
    const deadline = performance.now() + timeoutMs;
    let page = first;
    for (let attempt = 0; ; attempt += 1) {
      if (page.isGone) page = await browser.activePage();
      const patience = Math.max(LOOK_MS, deadline - performance.now());
      const counted = await withTimeout(countAt(page, target, call), patience, () => undefined);
      if (counted !== undefined && !counted.ok) throw notReadyError(target, counted, 0);
      const { count = 0, visible = 0 } = counted ?? {};
      const found =
        counted !== undefined &&
        { attached: count > 0, visible: visible > 0, hidden: visible === 0, detached: count === 0 }[
          state
        ];
      const rest = deadline - performance.now();
      if (found || rest <= 0) return { found, count };
      const pause = Math.min(WAIT_PAUSES_MS[attempt] ?? WAIT_PAUSE_MS, rest);
      await page.changes.until(() => page.isGone, { timeoutMs: pause, signal: call.signal });
    }
  }

  async function countAt(page: Page, target: string, call: EngineCall) {
    try {
      const frameId = await elements.frameFor(page, target, call);
      return await scripts.call(page, frameId, 'count', { query: parseTarget(target) }, call);
    } catch (error) {
      if (isDocumentUnloaded(error)) return undefined;
      throw error;
    }
  }

  /** What the browser still has of a captured request. */
  async function ofRequest(
    id: string,
    ask: (page: Page, source: RequestSource) => Promise<ResponseBody>,
  ): Promise<ResponseBody | undefined> {
    const page = browser.current;
    const source = page?.sourceOf(id);
    if (page === undefined || source === undefined) return undefined;
    return ask(page, source).catch(() => undefined);
  }

  return {
    protocol: 'cdp',
    status: (): EngineStatus => ({
      version,
      pid: chromium.pid,
      sandbox: chromium.sandbox,
      viewport: browser.viewport,
    }),
    address: (call) => onPage(call, (page) => readAddress(page, scripts, call)),
    navigate: (request, call) =>
      onPage(call, (page) => navigate(page, scripts, request, call), true),
    traverse: (direction, request, call) =>
      onPage(call, (page) => traverse(page, scripts, direction, request, call), true),
    click: (request, call) => onPage(call, (page) => actions.click(page, request, call)),
    type: (request, call) => onPage(call, (page) => actions.type(page, request, call)),
    press: (request, call) => onPage(call, (page) => actions.press(page, request, call)),
    scroll: (request, call) => onPage(call, (page) => actions.scroll(page, request, call)),
    evaluate: (request, call) =>
      onPage(call, (page) => evaluate(page, scripts, elements, request, call)),
    screenshot: (request, call) =>
      onPage(call, (page) => screenshot(page, browser, scripts, elements, request, call)),
    waitFor: (request, call) => onPage(call, (page) => waitFor(page, request, call), true),
    snapshot: (request, call) =>
      onPage(call, (page) => snapshot(page, scripts, elements, request, call)),
    dom: (request, call) =>
      onPage(call, async (page) => {
        const { selector, ...options } = request;
        const frameId =
          selector === undefined ? page.main.id : await elements.frameFor(page, selector, call);
        const query = selector === undefined ? undefined : parseTarget(selector);
        const found = await scripts.call(page, frameId, 'inspect', { query, ...options }, call);
        if (!found.ok) throw notReadyError(selector ?? '', found, 0);
        return { count: found.count, matches: found.matches, truncated: found.truncated };
      }),
    resize: ({ width, height, deviceScaleFactor, mobile }, call) =>
      onPage(call, async () => {
        await browser.resize([width, height], deviceScaleFactor ?? 1, mobile);
        return browser.viewport;
      }),
    requestBody: (id) =>
      ofRequest(id, async (page, { requestId, sessionId }) => {
        const sent = await page.send('Network.getRequestPostData', { requestId }, sessionId);
        return { body: sent.postData, isBase64: sent.base64Encoded };
      }),
    responseBody: (id) =>
      ofRequest(id, async (page, { requestId, sessionId }) => {
        const got = await page.send('Network.getResponseBody', { requestId }, sessionId);
        return { body: got.body, isBase64: got.base64Encoded };
      }),
    async ensureResponsive() {
      const page = browser.current;
      // One that is on its way somewhere waits for a server.
      const isAlive = async (asked: Page): Promise<boolean> =>
        asked.loading.isNavigating || isResponsive(asked);
      if (page !== undefined && !page.isGone && (await isAlive(page))) return false;
      await browser.replacePage();
      return true;
    },
    async close() {
      isClosing = true;
      connection.close();
      await chromium.end();
    },
  };
}

/** Whether scripts run in a page; what keeps it busy is ended. */
async function isResponsive(page: Page): Promise<boolean> {
  const answer = async (): Promise<boolean> => {
    void page.send('Runtime.terminateExecution').catch(() => undefined);
    await page.send('Runtime.evaluate', { expression: '1' });
    return true;
  };
  return withTimeout(answer(), PING_TIMEOUT_MS).catch(() => false);
}

function crashError(page: Page): ToolError {
  return new ToolError('BROWSER_CRASHED', `The tab of ${shownUrl(page.main)} crashed.`, {
    hint: 'Call again: a new tab is opened.',
  });
}

function navigatedError(page: Page | undefined): ToolError {
  const now = page === undefined ? 'another page' : shownUrl(page.main);
  return new ToolError('STALE_REF', `The page went to ${now} while the command ran.`, {
    hint: 'Call browser_snapshot to see where it is now, and call again.',
  });
}
