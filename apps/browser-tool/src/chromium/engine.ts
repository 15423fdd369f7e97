import { describeError, raceAbort, withTimeout } from '@model-gateway/kernel';
import type {
  BrowserEngine,
  EngineCall,
  EngineContext,
  EngineStatus,
  ResponseBody,
} from '../engine.ts';
import type { ResolvedBrowser } from '../resolve/index.ts';
import { pageError, type ToolError } from '../errors.ts';
import { createActions } from './input/actions.ts';
import { readAddress } from './navigation/address.ts';
import { createPageScripts, isDocumentUnloaded } from './page/page-scripts.ts';
import { createBrowser, type Browser } from './browser.ts';
import { createElements } from './input/elements.ts';
import { evaluate } from './page/evaluate.ts';
import { shownUrl } from './page/frames.ts';
import { stopStalledNavigations } from './navigation/stalled-navigation.ts';
import { launchChromium, type RunningChromium } from './process/launch.ts';
import { navigate, traverse } from './navigation/navigation.ts';
import type { RequestSource } from './capture/network-capture.ts';
import type { Page } from './page/page.ts';
import { proxyServer } from './capture/request-rules.ts';
import { screenshot } from './page/screenshot.ts';
import { snapshot } from './page/snapshot.ts';
import { inspect, waitFor } from './page/matches.ts';
import { startOriginFilter } from './process/origin-filter.ts';
import { proxyLogin } from './process/proxy-login.ts';
import { watchForSilence } from './process/watchdog.ts';

const BUSY_TIMEOUT_MS = 1_000;
const PING_TIMEOUT_MS = 2_000;
const START_PAGE_MS = 10_000;
/** For a new tab in the place of one that hangs or crashed. */
const NEW_TAB_TIMEOUT_MS = 10_000;

type ResolvedChromium = Extract<ResolvedBrowser, { readonly kind: 'cdp' }>;

/** Starts a Chromium and drives it over the DevTools protocol. */
export async function launchCdpEngine(
  resolved: ResolvedChromium,
  context: EngineContext,
  launch: typeof launchChromium = launchChromium,
): Promise<BrowserEngine> {
  const { viewport, signal, log, proxy, allowedOrigins } = context;
  const filter =
    proxy === undefined || allowedOrigins.length === 0
      ? undefined
      : await startOriginFilter({ proxy, allowedOrigins });
  const login = filter?.login ?? (proxy === undefined ? undefined : proxyLogin(proxy));
  const chromium = await launch({
    executable: resolved.executable,
    libraryFolder: resolved.libraryFolder,
    viewport,
    proxyServer: filter?.url ?? (proxy === undefined ? undefined : proxyServer(proxy)),
    allowedOrigins,
    sandbox: context.sandbox,
    signal,
    log,
  }).catch((error: unknown) => {
    filter?.close();
    throw error;
  });
  void chromium.exited.then(() => filter?.close());
  try {
    const browser = await createBrowser(chromium.connection, context, login);
    await openStart(browser, context);
    return createCdpEngine(chromium, browser, context);
  } catch (error) {
    await chromium.end();
    throw error;
  }
}

/** Opens the start page; a failure is only logged. */
async function openStart(
  browser: Browser,
  { startUrl, log, signal }: EngineContext,
): Promise<void> {
  if (startUrl === 'about:blank') return;
  const page = await browser.activePage();
  const { loading, changes } = page;
  const { shown } = loading;
  let problem: string | undefined;
  const finish = (text: string | undefined): void => {
    problem = text;
    changes.emit();
  };
  page.send('Page.navigate', { url: startUrl }).then(
    ({ errorText }) => finish(errorText),
    (error: unknown) => finish(describeError(error)),
  );
  // The browser responds before it shows the document; a command at that moment would replace the document.
  const isThere = await changes.until(
    () =>
      problem !== undefined ||
      page.hasEnded ||
      (loading.shown > shown && !loading.isNavigating && loading.hasContent),
    { timeoutMs: START_PAGE_MS, signal },
  );
  if (isThere && problem === undefined) return;
  log.warn({ url: startUrl, problem: problem ?? 'late' }, 'opening the start page failed');
}

function createCdpEngine(
  chromium: RunningChromium,
  browser: Browser,
  { refs, onEnd, captures, log }: EngineContext,
): BrowserEngine {
  const { connection, version } = chromium;
  const scripts = createPageScripts(refs);
  const elements = createElements(scripts, refs);
  const actions = createActions(browser, scripts, elements);
  let isClosing = false;
  const ended = Promise.race([
    chromium.exited,
    connection.closed.then(() => 'it closed the connection'),
  ]).then(async (reason) => {
    if (isClosing) return;
    captures.events.publish('crash', { reason });
    onEnd(reason);
    await chromium.end();
  });

  /** Runs a command on the active tab until it finishes, the tab crashes, or the deadline. `isWaiting` allows slow navigations. */
  async function onPage<Result>(
    call: EngineCall,
    work: (page: Page) => Promise<Result>,
    isWaiting = false,
  ): Promise<Result> {
    call.signal.throwIfAborted();
    const endCall = browser.begin(call);
    const stopWatchdog = watchForSilence(connection, () => {
      log.warn({ pid: chromium.pid }, 'the browser does not respond; ending it');
      void chromium.end();
    });
    let stopStallCheck: () => void = () => undefined;
    let outcome: 'succeeded' | 'failed' = 'failed';
    try {
      const page = await raceAbort(browser.activePage(), call.signal);
      if (!isWaiting) stopStallCheck = stopStalledNavigations(page);
      if (page.isCrashed) throw crashError(page);
      const crashed = page.ended.then((how) =>
        how === 'crashed' ? Promise.reject(crashError(page)) : new Promise<never>(() => undefined),
      );
      crashed.catch(() => undefined);
      const run = async (): Promise<Result> => {
        await actions.reportOpenedTab(call);
        const result = await work(page);
        await actions.reportOpenedTab(call);
        return result;
      };
      const result = await raceAbort(Promise.race([run(), crashed]), call.signal);
      outcome = 'succeeded';
      return result;
    } catch (error) {
      if (!isDocumentUnloaded(error)) throw error;
      throw navigatedError(browser.current);
    } finally {
      stopStallCheck();
      stopWatchdog();
      endCall(outcome);
    }
  }

  /** Reads a captured request from the browser; undefined if the browser dropped it. */
  async function readRequest(
    id: string,
    read: (page: Page, source: RequestSource) => Promise<ResponseBody>,
  ): Promise<ResponseBody | undefined> {
    const page = browser.pageOfRequest(id);
    const source = page?.sourceOf(id);
    if (page === undefined || source === undefined) return undefined;
    return read(page, source).catch(() => undefined);
  }

  return {
    protocol: 'cdp',
    status: (): EngineStatus => ({
      version,
      pid: chromium.pid,
      sandbox: chromium.sandbox,
      viewport: browser.viewport,
      isTabCrashed: browser.current?.isCrashed === true,
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
      onPage(call, async (page) => {
        await actions.awaitOpenedTab(page, call);
        return evaluate(page, scripts, elements, request, call);
      }),
    screenshot: (request, call) =>
      onPage(call, (page) => screenshot(page, browser, scripts, elements, request, call)),
    waitFor: (request, call) =>
      onPage(call, (page) => waitFor(page, browser, scripts, elements, request, call), true),
    snapshot: (request, call) =>
      onPage(call, (page) => snapshot(page, scripts, elements, request, call)),
    dom: (request, call) => onPage(call, (page) => inspect(page, scripts, elements, request, call)),
    resize: ({ width, height, deviceScaleFactor, mobile }, call) =>
      onPage(call, async () => {
        await browser.resize([width, height], deviceScaleFactor ?? 1, mobile);
        return browser.viewport;
      }),
    requestBody: (id) =>
      readRequest(id, async (page, { requestId, sessionId }) => {
        const sent = await page.send('Network.getRequestPostData', { requestId }, sessionId);
        return { body: sent.postData, isBase64: sent.base64Encoded };
      }),
    responseBody: (id) =>
      readRequest(id, async (page, { requestId, sessionId }) => {
        const got = await page.send('Network.getResponseBody', { requestId }, sessionId);
        return { body: got.body, isBase64: got.base64Encoded };
      }),
    async ensureResponsive() {
      const page = browser.current;
      // A page that navigates waits for a server.
      const isUsable = async (tab: Page): Promise<boolean> =>
        !tab.hasEnded && (tab.loading.isNavigating || isResponsive(tab));
      if (page !== undefined && (await isUsable(page))) return false;
      const isReplaced = browser.replacePage().then(() => true);
      if (await withTimeout(isReplaced, NEW_TAB_TIMEOUT_MS).catch(() => false)) return true;
      log.warn({ pid: chromium.pid }, 'the browser cannot open a new tab; ending it');
      await chromium.end();
      await ended;
      return true;
    },
    async close() {
      isClosing = true;
      connection.close();
      await chromium.end();
    },
  };
}

/** Whether scripts run in a page. Terminates a script that blocks it; a page that is only busy keeps its scripts. */
async function isResponsive(page: Page): Promise<boolean> {
  const ping = async (): Promise<boolean> => {
    await page.send('Runtime.evaluate', { expression: '1' });
    return true;
  };
  const isAnswered = ping();
  if (await withTimeout(isAnswered, BUSY_TIMEOUT_MS).catch(() => false)) return true;
  void page.send('Runtime.terminateExecution').catch(() => undefined);
  return withTimeout(isAnswered, PING_TIMEOUT_MS).catch(() => false);
}

function crashError(page: Page): ToolError {
  return pageError('tabCrashed', { tab: `The tab of ${shownUrl(page.main)}` });
}

function navigatedError(page: Page | undefined): ToolError {
  return pageError('navigated', { now: page === undefined ? 'another page' : shownUrl(page.main) });
}
