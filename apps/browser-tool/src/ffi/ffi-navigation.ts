import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type {
  EngineCall,
  EngineMethod,
  LoadState,
  NavigationOutcome,
  PageAddress,
} from '../engine.ts';
import type { NavigateRequest } from '../commands/params.ts';
import { ToolError } from '../errors.ts';
import type { FfiContext } from './ffi-context.ts';
import { notSupported } from './native-calls.ts';
import type { PageResponse } from './page-channel.ts';

const POLL_MS = 50;
const DOCUMENT_MS = 30_000;
const LOAD_MS = 5_000;
const IDLE_MS = 500;
const TRAVERSE_MS = 1_000;
const SETTLE_QUIET_MS = 50;
const SETTLE_CAP_MS = 1_000;
const SETTLE_NAVIGATION_MS = 10_000;
const SETTLE_LOAD_MS = 1_000;

/** The result of an engine's navigation. */
const navigatedShape = z
  .object({
    status: z.number().nullable().catch(null),
    url: z.string().optional().catch(undefined),
    title: z.string().catch(''),
  })
  .catch({ status: null, url: undefined, title: '' });

/** The address of the page. */
export async function addressFfi(ffi: FfiContext, call: EngineCall): Promise<PageAddress> {
  if (!(await ffi.channel.runsScripts(call))) return ffi.lastAddress;
  return ffi.channel.callScript('address', undefined, call);
}

/** Opens a URL. */
export const navigateFfi: EngineMethod<'navigate', FfiContext> = async (
  ffi,
  { url, waitUntil, timeoutMs },
  call,
) => {
  const opened = navigatedShape.parse(await ffi.native.navigate(url, call, timeoutMs));
  ffi.lastAddress = { url: opened.url ?? url, title: opened.title };
  const page =
    (await ffi.channel.tryReadDocument(call)) === undefined
      ? { ...ffi.lastAddress, readyState: 'complete' }
      : await awaitDocument(ffi, waitUntil, call, LOAD_MS);
  reportNavigation(ffi, page);
  return {
    ...outcome(page),
    status: opened.status,
    redirected: withoutFragment(url) !== withoutFragment(page.url),
  };
};

/** Goes back or forward in the history, or reloads the page. */
export async function traverseFfi(
  ffi: FfiContext,
  direction: 'back' | 'forward' | 'reload',
  { waitUntil, timeoutMs }: Pick<NavigateRequest, 'waitUntil' | 'timeoutMs'>,
  call: EngineCall,
): Promise<NavigationOutcome> {
  const { native, channel } = ffi;
  const before = await channel.tryReadDocument(call);
  if (before === undefined) return traversePlain(ffi, direction, timeoutMs, call);
  if ((await native.tryCall(direction, {}, call, timeoutMs)) === undefined) {
    const step = direction === 'reload' ? 'location.reload()' : `history.${direction}()`;
    await channel.run(`() => { ${step}; }`, call);
    const isOther = (page: PageResponse): boolean =>
      page.id !== before.id || page.url !== before.url;
    const after = await readUntil(
      ffi,
      isOther,
      direction === 'reload' ? timeoutMs : TRAVERSE_MS,
      call,
    );
    if (!isOther(after)) throw traversalError(direction, before.url);
  }
  const page = await awaitDocument(ffi, waitUntil, call, LOAD_MS);
  reportNavigation(ffi, page);
  return { ...outcome(page), status: null, redirected: false };
}

/** The same for an engine that cannot run scripts: it must offer the method itself. */
async function traversePlain(
  ffi: FfiContext,
  direction: 'back' | 'forward' | 'reload',
  timeoutMs: number,
  call: EngineCall,
): Promise<NavigationOutcome> {
  const went = await ffi.native.tryCall(direction, {}, call, timeoutMs);
  if (went === undefined) throw notSupported(ffi.backend, direction);
  const { url, title, status } = navigatedShape.parse(went.value);
  ffi.lastAddress = { url: url ?? ffi.lastAddress.url, title };
  reportNavigation(ffi, ffi.lastAddress);
  const page = { ...ffi.lastAddress, readyState: 'complete' };
  return { ...outcome(page), status, redirected: false };
}

/** Reads the document before an action. */
export async function beginAction(
  { channel }: FfiContext,
  call: EngineCall,
): Promise<PageResponse> {
  const result = await channel.run('(state) => { state.isUnloading = false; }', call);
  return result.ok ? result.response : channel.readDocument(call);
}

/** Waits until the page settles after an action: for the next document if it navigates, else until it stops changing. */
export async function settleAction(
  ffi: FfiContext,
  before: PageResponse,
  call: EngineCall,
): Promise<{ readonly navigated: boolean; readonly url: string; readonly title: string }> {
  await ffi.channel.callScript('quiet', { quietMs: SETTLE_QUIET_MS, capMs: SETTLE_CAP_MS }, call);
  let page = await ffi.channel.readDocument(call);
  if (page.id === before.id && page.isUnloading) {
    page = await readUntil(ffi, ({ id }) => id !== before.id, SETTLE_NAVIGATION_MS, call);
  }
  if (page.id !== before.id) {
    page = await awaitDocument(ffi, 'load', call, SETTLE_LOAD_MS);
    reportNavigation(ffi, page);
  }
  const navigated = page.id !== before.id || page.url !== before.url;
  return { navigated, url: page.url, title: page.title };
}

/** Waits for the document, then for a limited time for everything else. */
async function awaitDocument(
  ffi: FfiContext,
  waitUntil: NavigateRequest['waitUntil'],
  call: EngineCall,
  loadMs: number,
): Promise<PageResponse> {
  if (waitUntil === 'commit') return ffi.channel.readDocument(call);
  const parsed = await readUntil(
    ffi,
    ({ readyState }) => readyState !== 'loading',
    DOCUMENT_MS,
    call,
  );
  if (waitUntil === 'domcontentloaded') return parsed;
  const isLoaded = (page: PageResponse): boolean => page.readyState === 'complete';
  const loaded = await readUntil(ffi, isLoaded, loadMs, call);
  if (waitUntil !== 'networkidle') return loaded;
  await ffi.channel.callScript('quiet', { quietMs: IDLE_MS, capMs: loadMs }, call);
  return ffi.channel.readDocument(call);
}

/** The document once the condition is true, or at the timeout. */
async function readUntil(
  { channel }: FfiContext,
  condition: (page: PageResponse) => boolean,
  timeoutMs: number,
  call: EngineCall,
): Promise<PageResponse> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const page = await channel.readDocument(call);
    if (condition(page) || performance.now() > deadline) return page;
    await delay(POLL_MS);
    call.signal.throwIfAborted();
  }
}

function reportNavigation(
  { reportsNavigations, captures }: FfiContext,
  { url }: PageAddress,
): void {
  if (!reportsNavigations) captures.navigated(url);
}

function outcome({ url, title, readyState }: Pick<PageResponse, 'url' | 'title' | 'readyState'>) {
  const loadState: LoadState = readyState === 'complete' ? 'complete' : 'interactive';
  return { url, title, statusText: '', loadState };
}

function traversalError(direction: 'back' | 'forward' | 'reload', url: string): ToolError {
  if (direction === 'reload') {
    return new ToolError('NAVIGATION_FAILED', `${url} was not reloaded.`, { details: { url } });
  }
  return new ToolError('NO_HISTORY', `There is no page to go ${direction} to from ${url}.`, {
    hint: 'Navigate to an address instead.',
    details: { url },
  });
}

function withoutFragment(url: string): string {
  return URL.canParse(url) ? new URL(url).href.replace(/#.*$/s, '') : url;
}
