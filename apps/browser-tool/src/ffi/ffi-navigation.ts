import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type {
  Call,
  LoadState,
  NavigateRequest,
  NavigationOutcome,
  PageAddress,
  WaitUntil,
} from '../engine.ts';
import { ToolError } from '../tool-error.ts';
import type { FfiSession } from './ffi-session.ts';
import { notSupported } from './native-calls.ts';
import type { PageAnswer } from './page-channel.ts';

const POLL_MS = 50;
const DOCUMENT_MS = 30_000;
const LOAD_MS = 5_000;
const IDLE_MS = 500;
const LEAVE_MS = 1_000;
const SETTLE_QUIET_MS = 50;
const SETTLE_CAP_MS = 1_000;
const SETTLE_NAVIGATION_MS = 10_000;
const SETTLE_LOAD_MS = 1_000;

/** What an engine may say about a document that it opened. */
const navigatedShape = z
  .object({
    status: z.number().nullable().catch(null),
    url: z.string().optional().catch(undefined),
    title: z.string().catch(''),
  })
  .catch({ status: null, url: undefined, title: '' });

/** Where the page is. */
export async function addressFfi(session: FfiSession, call: Call): Promise<PageAddress> {
  if (!(await session.channel.runsScripts(call))) return session.known;
  return session.channel.agent('address', undefined, call);
}

/** Opens an address. */
export async function navigateFfi(
  session: FfiSession,
  { url, waitUntil, timeoutMs }: NavigateRequest,
  call: Call,
): Promise<NavigationOutcome> {
  const answer = navigatedShape.parse(await session.native.navigate(url, call, timeoutMs));
  session.known = { url: answer.url ?? url, title: answer.title };
  const page =
    (await session.channel.tryLook(call)) === undefined
      ? { ...session.known, readyState: 'complete' }
      : await awaitDocument(session, waitUntil, call, LOAD_MS);
  tellNavigation(session, page);
  return {
    ...outcome(page),
    status: answer.status,
    redirected: withoutFragment(url) !== withoutFragment(page.url),
  };
}

/** Goes through the history, or loads the page anew. */
export async function traverseFfi(
  session: FfiSession,
  direction: 'back' | 'forward' | 'reload',
  { waitUntil, timeoutMs }: Omit<NavigateRequest, 'url'>,
  call: Call,
): Promise<NavigationOutcome> {
  const { native, channel } = session;
  const before = await channel.tryLook(call);
  if (before === undefined) return traversePlain(session, direction, timeoutMs, call);
  if ((await native.tryCall(direction, {}, call, timeoutMs)) === undefined) {
    const step = direction === 'reload' ? 'location.reload()' : `history.${direction}()`;
    await channel.run(`() => { ${step}; }`, call);
    const isOther = (page: PageAnswer): boolean => page.id !== before.id || page.url !== before.url;
    const after = await lookUntil(
      session,
      isOther,
      direction === 'reload' ? timeoutMs : LEAVE_MS,
      call,
    );
    if (!isOther(after)) throw didNotMove(direction, before.url);
  }
  const page = await awaitDocument(session, waitUntil, call, LOAD_MS);
  tellNavigation(session, page);
  return { ...outcome(page), status: null, redirected: false };
}

/** The same with an engine that runs no scripts: it has to know how by itself. */
async function traversePlain(
  session: FfiSession,
  direction: 'back' | 'forward' | 'reload',
  timeoutMs: number,
  call: Call,
): Promise<NavigationOutcome> {
  const went = await session.native.tryCall(direction, {}, call, timeoutMs);
  if (went === undefined) throw notSupported(session.backend, direction);
  const { url, title, status } = navigatedShape.parse(went.value);
  session.known = { url: url ?? session.known.url, title };
  tellNavigation(session, session.known);
  const page = { ...session.known, readyState: 'complete' };
  return { ...outcome(page), status, redirected: false };
}

/** Notes where an action begins. */
export async function beginAction({ channel }: FfiSession, call: Call): Promise<PageAnswer> {
  const result = await channel.run('(state) => { state.isLeaving = false; }', call);
  return result.ok ? result.answer : channel.look(call);
}

/** Waits for what an action set off: for the next document where it leads to one, else until the page is quiet. */
export async function settleAction(
  session: FfiSession,
  before: PageAnswer,
  call: Call,
): Promise<{ readonly navigated: boolean; readonly url: string; readonly title: string }> {
  await session.channel.agent('quiet', { quietMs: SETTLE_QUIET_MS, capMs: SETTLE_CAP_MS }, call);
  let page = await session.channel.look(call);
  if (page.id === before.id && page.isLeaving) {
    page = await lookUntil(session, ({ id }) => id !== before.id, SETTLE_NAVIGATION_MS, call);
  }
  if (page.id !== before.id) {
    page = await awaitDocument(session, 'load', call, SETTLE_LOAD_MS);
    tellNavigation(session, page);
  }
  const navigated = page.id !== before.id || page.url !== before.url;
  return { navigated, url: page.url, title: page.title };
}

/** The document has to come; whatever else it loads is waited for only for a while. */
async function awaitDocument(
  session: FfiSession,
  waitUntil: WaitUntil,
  call: Call,
  loadMs: number,
): Promise<PageAnswer> {
  if (waitUntil === 'commit') return session.channel.look(call);
  const parsed = await lookUntil(
    session,
    ({ readyState }) => readyState !== 'loading',
    DOCUMENT_MS,
    call,
  );
  if (waitUntil === 'domcontentloaded') return parsed;
  const isLoaded = (page: PageAnswer): boolean => page.readyState === 'complete';
  const loaded = await lookUntil(session, isLoaded, loadMs, call);
  if (waitUntil !== 'networkidle') return loaded;
  await session.channel.agent('quiet', { quietMs: IDLE_MS, capMs: loadMs }, call);
  return session.channel.look(call);
}

/** The page once it is as wanted, or as it is when the time is over. */
async function lookUntil(
  { channel }: FfiSession,
  isWanted: (page: PageAnswer) => boolean,
  timeoutMs: number,
  call: Call,
): Promise<PageAnswer> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const page = await channel.look(call);
    if (isWanted(page) || performance.now() > deadline) return page;
    await delay(POLL_MS);
    call.signal.throwIfAborted();
  }
}

function tellNavigation({ tellsNavigations, captures }: FfiSession, { url }: PageAddress): void {
  if (!tellsNavigations) captures.navigated(url);
}

function outcome({ url, title, readyState }: Pick<PageAnswer, 'url' | 'title' | 'readyState'>) {
  const loadState: LoadState = readyState === 'complete' ? 'complete' : 'interactive';
  return { url, title, statusText: '', loadState };
}

function didNotMove(direction: 'back' | 'forward' | 'reload', url: string): ToolError {
  if (direction === 'reload') {
    return new ToolError('NAVIGATION_FAILED', `${url} was not loaded anew.`, { details: { url } });
  }
  return new ToolError('NO_HISTORY', `There is no page to go ${direction} to from ${url}.`, {
    hint: 'Navigate to an address instead.',
    details: { url },
  });
}

function withoutFragment(url: string): string {
  return URL.canParse(url) ? new URL(url).href.replace(/#.*$/s, '') : url;
}
