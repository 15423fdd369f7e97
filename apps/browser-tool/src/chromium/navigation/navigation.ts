import { withTimeout } from '@model-gateway/kernel';
import type { DialogReport, EngineCall, LoadState, NavigationOutcome } from '../../engine.ts';
import type { NavigateRequest } from '../../commands/params.ts';
import { pageError, ToolError } from '../../errors.ts';
import { readAddress, destinationOf } from './address.ts';
import type { PageScripts } from '../page/page-scripts.ts';
import { shownUrl } from '../page/frames.ts';
import type { Page } from '../page/page.ts';

const LOAD_TIMEOUT_MS = 5_000;
const ERROR_PAGE_TIMEOUT_MS = 1_000;
const STOP_TIMEOUT_MS = 1_000;
const DOWNLOAD_TIMEOUT_MS = 1_000;
/** The statuses of responses that leave the page as it is. */
const EMPTY_STATUSES = [204, 205];

type LoadOptions = Pick<NavigateRequest, 'waitUntil' | 'timeoutMs'>;

/** Opens a URL and waits for its document. The tab stays usable after a failure. */
export async function navigate(
  page: Page,
  scripts: PageScripts,
  request: NavigateRequest,
  call: EngineCall,
): Promise<NavigationOutcome> {
  const deadline = performance.now() + request.timeoutMs;
  const answer = await sendNavigation(page, request, deadline, call);
  if (answer.errorText !== undefined) {
    const failure = await failureOf(page, request.url, answer, call);
    throw failure;
  }
  // Without a loader the URL is another fragment of the same document.
  const { loaderId } = answer;
  if (loaderId === undefined)
    return outcomeOf(page, scripts, page.loading.loaderId, 'complete', call);
  const loadState = await awaitLoad(page, request, loaderId, deadline, call);
  return outcomeOf(page, scripts, loaderId, loadState, call);
}

/** Goes back or forward in the history, or reloads the page. */
export async function traverse(
  page: Page,
  scripts: PageScripts,
  direction: 'back' | 'forward' | 'reload',
  options: LoadOptions,
  call: EngineCall,
): Promise<NavigationOutcome> {
  const deadline = performance.now() + options.timeoutMs;
  const { loading } = page;
  const { shown } = loading;
  const endWithoutPage = watchForEnd(page, call);
  const url = await sendTraversal(page, direction);
  const isOver = await page.changes.until(
    () => loading.shown > shown || page.hasEnded || endWithoutPage() !== undefined,
    { timeoutMs: Math.max(0, deadline - performance.now()), signal: call.signal },
  );
  if (!isOver) throw await stopAndTimeOut(page, url, options.timeoutMs);
  if (loading.shown === shown && !page.hasEnded) {
    // That it is a download is reported a little after the end.
    const aMoment = { timeoutMs: DOWNLOAD_TIMEOUT_MS, signal: call.signal };
    await page.changes.until(() => endWithoutPage()?.mayBeDownload !== true, aMoment);
    const failure = await failureOf(page, url, endWithoutPage() ?? {}, call);
    throw failure;
  }
  const { loaderId } = loading;
  const loadState = await awaitLoad(page, options, loaderId, deadline, call);
  if (page.main.unreachableUrl !== undefined) {
    throw navigationFailed(
      page.main.unreachableUrl,
      page.loading.failureOf(loaderId) ?? 'net::ERR_FAILED',
    );
  }
  return outcomeOf(page, scripts, loaderId, loadState, call);
}

/** Returns the URL of the page that it goes to. */
async function sendTraversal(
  page: Page,
  direction: 'back' | 'forward' | 'reload',
): Promise<string> {
  if (direction === 'reload') {
    await page.send('Page.reload');
    return shownUrl(page.main);
  }
  const { id, url } = await historyEntry(page, direction);
  await page.send('Page.navigateToHistoryEntry', { entryId: id });
  return url;
}

/** Returns a function that tells how a navigation that starts from now on ended, if it ended without another page. */
function watchForEnd(page: Page, { notes }: EngineCall): () => NavigationEnd | undefined {
  const { loading } = page;
  const before = loading.startedLoader;
  const dialogs = notes.dialogs.length;
  const downloads = notes.downloads.length;
  return () => {
    const loaderId = loading.startedLoader;
    const failure = loaderId === before ? undefined : loading.failureOf(loaderId);
    const isDownload = notes.downloads.length > downloads;
    const wasDismissed = notes.dialogs.slice(dialogs).some(isDismissedLeaving);
    if (!isDownload && !wasDismissed && (failure === undefined || loading.isNavigating))
      return undefined;
    const errorText = failure ?? 'net::ERR_ABORTED';
    const isEmpty = EMPTY_STATUSES.includes(loading.responseOf(loaderId)?.status ?? 0);
    const mayBeDownload =
      errorText === 'net::ERR_ABORTED' && !isDownload && !wasDismissed && !isEmpty;
    return { loaderId, errorText, isDownload, mayBeDownload };
  };
}

/** Whether the caller refused to leave a page that asked. */
function isDismissedLeaving({ type, action }: DialogReport): boolean {
  return type === 'beforeunload' && action === 'dismissed';
}

async function historyEntry(
  page: Page,
  direction: 'back' | 'forward',
): Promise<{ readonly id: number; readonly url: string }> {
  const { currentIndex, entries } = await page.send('Page.getNavigationHistory');
  const entry = entries[currentIndex + (direction === 'back' ? -1 : 1)];
  if (entry !== undefined) return entry;
  throw pageError('noHistory', { direction, url: destinationOf(page) });
}

interface NavigationAnswer {
  readonly loaderId?: string | undefined;
  readonly errorText?: string | undefined;
  readonly isDownload?: boolean | undefined;
}

interface NavigationEnd extends NavigationAnswer {
  readonly mayBeDownload: boolean;
}

async function sendNavigation(
  page: Page,
  { url, timeoutMs }: NavigateRequest,
  deadline: number,
  call: EngineCall,
): Promise<NavigationAnswer> {
  const send = (): Promise<NavigationAnswer | 'late'> =>
    Promise.race([
      page.send('Page.navigate', { url }),
      page.changes
        .until(() => false, {
          timeoutMs: Math.max(0, deadline - performance.now()),
          signal: call.signal,
        })
        .then(() => 'late' as const),
    ]);
  const downloads = call.notes.downloads.length;
  let answer = await send();
  // A page that is already navigating interrupts the first attempt.
  const isInterrupted =
    answer !== 'late' && answer.errorText === 'net::ERR_ABORTED' && answer.isDownload !== true;
  const hasAnswer =
    answer !== 'late' &&
    answer.loaderId !== undefined &&
    page.loading.responseOf(answer.loaderId) !== undefined;
  const wasDismissed = call.notes.dialogs.some(isDismissedLeaving);
  if (isInterrupted && !hasAnswer && !wasDismissed && call.notes.downloads.length === downloads)
    answer = await send();
  if (answer === 'late') throw await stopAndTimeOut(page, url, timeoutMs);
  return answer;
}

/** Waits for the document, then for a limited time for the rest; the page may navigate again meanwhile. */
async function awaitLoad(
  page: Page,
  { waitUntil, timeoutMs }: LoadOptions,
  loaderId: string,
  deadline: number,
  { signal }: EngineCall,
): Promise<LoadState> {
  const { loading, changes } = page;
  const isCommitted = (): boolean =>
    page.hasEnded || loading.loaderId === loaderId || loading.failureOf(loaderId) !== undefined;
  const rest = (): number => Math.max(0, deadline - performance.now());
  await changes.until(() => isCommitted() || !loading.isNavigating, { timeoutMs: rest(), signal });
  if (waitUntil === 'commit') return loading.reached('load') ? 'complete' : 'interactive';
  const isThere = await changes.until(
    () => page.hasEnded || (!loading.isNavigating && loading.hasContent),
    { timeoutMs: rest(), signal },
  );
  if (!isThere) throw await stopAndTimeOut(page, shownUrl(page.main), timeoutMs);
  if (waitUntil === 'domcontentloaded') return loading.reached('load') ? 'complete' : 'interactive';
  const isDone = (): boolean =>
    waitUntil === 'networkidle' ? loading.reached('networkIdle') : loading.hasLoaded;
  await changes.until(() => page.hasEnded || isDone(), {
    timeoutMs: Math.min(LOAD_TIMEOUT_MS, rest()),
    signal,
  });
  return loading.reached('load') ? 'complete' : 'interactive';
}

async function outcomeOf(
  page: Page,
  scripts: PageScripts,
  firstLoader: string,
  loadState: LoadState,
  call: EngineCall,
): Promise<NavigationOutcome> {
  const { loading } = page;
  const address = await readAddress(page, scripts, call);
  const answer = loading.responseOf(loading.loaderId) ?? loading.responseOf(firstLoader);
  return {
    ...address,
    status: answer?.status ?? null,
    statusText: answer?.statusText ?? '',
    loadState,
    loadError: loading.loadError,
    redirected: loading.redirectOf(firstLoader) !== undefined || loading.loaderId !== firstLoader,
  };
}

/** The reason why there is no document, once the tab is idle. */
async function failureOf(
  page: Page,
  url: string,
  { errorText = '', loaderId = '', isDownload }: NavigationAnswer,
  call: EngineCall,
): Promise<ToolError> {
  const { changes, loading } = page;
  const options = { timeoutMs: ERROR_PAGE_TIMEOUT_MS, signal: call.signal };
  if (isDownload === true) {
    await changes.until(() => call.notes.downloads.length > 0, options);
    return navigationFailed(url, errorText, 'it is a download, and downloads are denied');
  }
  const status = loading.responseOf(loaderId)?.status;
  if (status !== undefined && EMPTY_STATUSES.includes(status)) {
    return navigationFailed(
      url,
      errorText,
      `the server responded with status ${status}, which has no page`,
      {
        status,
      },
    );
  }
  if (call.notes.dialogs.some(isDismissedLeaving)) {
    return navigationFailed(
      url,
      errorText,
      'the dialog about leaving the page was dismissed',
      {},
      'Pass dialog:"accept" to leave the page.',
    );
  }
  // The browser shows its error page. Until that has loaded, the browser would drop the next navigation.
  if (errorText !== 'net::ERR_ABORTED') {
    await changes.until(
      () => page.main.unreachableUrl !== undefined && !loading.isNavigating,
      options,
    );
    await changes.until(() => loading.reached('load'), options);
  }
  if (errorText === 'net::ERR_BLOCKED_BY_CLIENT') {
    return originBlocked(url, loading.redirectOf(loaderId));
  }
  if (errorText === 'net::ERR_HTTP_RESPONSE_CODE_FAILURE') return emptyFailure(page, url, loaderId);
  return navigationFailed(url, errorText);
}

/** The origin of a page, or of its redirect target, is not allowed. */
function originBlocked(url: string, target: string | undefined): ToolError {
  const page = target === undefined ? `${url} is` : `${url} redirects to ${target}, which is`;
  return pageError(
    'originBlocked',
    { page, origin: new URL(target ?? url).origin },
    {
      url,
      net_error: 'net::ERR_BLOCKED_BY_CLIENT',
      ...(target === undefined ? {} : { redirected_to: target }),
    },
  );
}

/** An error response without a page. */
function emptyFailure({ loading }: Page, url: string, loaderId: string): ToolError {
  const netError = 'net::ERR_HTTP_RESPONSE_CODE_FAILURE';
  const answer = loading.responseOf(loaderId);
  if (answer === undefined) return navigationFailed(url, netError);
  const status = `${answer.status} ${answer.statusText}`.trim();
  return navigationFailed(url, netError, `the server responded with ${status} and an empty page`, {
    status: answer.status,
  });
}

function navigationFailed(
  url: string,
  netError: string,
  why = MEANINGS[netError],
  more: Readonly<Record<string, unknown>> = {},
  hint = HINTS[netError] ??
    'Check the address and that its server runs; the tab is ready for another navigation.',
): ToolError {
  const reason = why === undefined ? netError : `${why} (${netError})`;
  return new ToolError('NAVIGATION_FAILED', `${url} could not be opened: ${reason}.`, {
    hint,
    details: { url, net_error: netError, ...more },
  });
}

const MEANINGS: Readonly<Record<string, string>> = {
  'net::ERR_ABORTED': 'the navigation was interrupted',
  'net::ERR_ADDRESS_UNREACHABLE': 'the address is unreachable',
  'net::ERR_CERT_AUTHORITY_INVALID': 'its certificate is not trusted',
  'net::ERR_CERT_COMMON_NAME_INVALID': 'its certificate is for another host',
  'net::ERR_CERT_DATE_INVALID': 'its certificate is expired or not valid yet',
  'net::ERR_CONNECTION_REFUSED': 'the connection was refused',
  'net::ERR_CONNECTION_RESET': 'the connection was reset',
  'net::ERR_CONNECTION_TIMED_OUT': 'the connection timed out',
  'net::ERR_EMPTY_RESPONSE': 'the server sent nothing',
  'net::ERR_INVALID_AUTH_CREDENTIALS': 'the server requires a user name and password',
  'net::ERR_INTERNET_DISCONNECTED': 'there is no network',
  'net::ERR_NAME_NOT_RESOLVED': 'there is no such host',
  'net::ERR_PROXY_CONNECTION_FAILED': 'the proxy could not be reached',
  'net::ERR_SSL_PROTOCOL_ERROR': 'the server did not answer with TLS',
  'net::ERR_TOO_MANY_REDIRECTS': 'it redirects in a loop',
  // The browser retries the same credentials until it stops.
  'net::ERR_TOO_MANY_RETRIES': 'the proxy refused the credentials',
  'net::ERR_TUNNEL_CONNECTION_FAILED': 'the proxy refused the connection',
  'net::ERR_UNSAFE_PORT': 'browsers do not connect to this port',
};

const HINTS: Readonly<Record<string, string>> = {
  'net::ERR_INVALID_AUTH_CREDENTIALS': 'Put them into the URL: http://user:password@host/.',
  'net::ERR_SSL_PROTOCOL_ERROR': 'Check the port, or use http:// instead of https://.',
  'net::ERR_UNSAFE_PORT': 'Use another port.',
  'net::ERR_TOO_MANY_RETRIES': "Check the user name and password in the proxy's URL.",
};

/** Stops the navigation, so that the tab is ready for the next command. */
async function stopAndTimeOut(page: Page, what: string, timeoutMs: number): Promise<ToolError> {
  await withTimeout(page.send('Page.stopLoading'), STOP_TIMEOUT_MS).catch(() => undefined);
  return pageError('loadTimeout', { page: what, ms: timeoutMs }, { timeout_ms: timeoutMs });
}
