import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { EngineCall } from './engine-call.ts';
import { EngineError, notSupported } from './errors.ts';
import type { NativeCalls } from './native-calls.ts';
import type { PageChannel, PageResponse } from './page-channel.ts';

const POLL_MS = 50;
const DOCUMENT_MS = 30_000;
const LOAD_MS = 5_000;
const IDLE_MS = 500;
const TRAVERSE_MS = 1_000;
const SETTLE_QUIET_MS = 50;
const SETTLE_CAP_MS = 1_000;
const SETTLE_NAVIGATION_MS = 10_000;
const SETTLE_LOAD_MS = 1_000;

interface Address {
  readonly url: string;
  readonly title: string;
}

/** How long to wait for a document. */
export interface LoadRequest {
  readonly waitUntil: 'commit' | 'domcontentloaded' | 'load' | 'networkidle';
  /** The limit for the document itself. */
  readonly timeoutMs: number;
}

export type Direction = 'back' | 'forward' | 'reload';

/** The document that was opened. */
export interface Navigated extends Address {
  readonly status: number | null;
  readonly statusText: string;
  readonly loadState: 'complete' | 'interactive';
  readonly redirected: boolean;
}

/** Opens documents, and waits for them. */
export interface Navigation {
  address(call: EngineCall): Promise<Address>;
  navigate(request: LoadRequest & { readonly url: string }, call: EngineCall): Promise<Navigated>;
  traverse(direction: Direction, request: LoadRequest, call: EngineCall): Promise<Navigated>;
  /** Reads the document before an action. */
  beginAction(call: EngineCall): Promise<PageResponse>;
  /** Waits until the page settles after an action: for the next document if it navigates, else until it stops changing. */
  settle(
    before: PageResponse,
    call: EngineCall,
  ): Promise<Address & { readonly navigated: boolean }>;
}

interface NavigationOptions {
  readonly backend: string;
  readonly native: NativeCalls;
  readonly channel: PageChannel;
  readonly startUrl: string;
  readonly onNavigated: (url: string) => void;
}

/** What an engine returns for a document that it opened. */
const openedShape = z
  .object({
    status: z.number().nullable().catch(null),
    url: z.string().optional().catch(undefined),
    title: z.string().catch(''),
  })
  .catch({ status: null, url: undefined, title: '' });

/** The navigation of an engine: by its own functions, by scripts where it has none. */
export function createNavigation(options: NavigationOptions): Navigation {
  const { backend, native, channel, startUrl, onNavigated } = options;
  // For an engine that cannot run scripts.
  let lastAddress: Address = { url: startUrl, title: '' };

  function finish(page: Address & { readonly readyState?: string }, status: number | null) {
    onNavigated(page.url);
    const { url, title, readyState = 'complete' } = page;
    const loadState: Navigated['loadState'] =
      readyState === 'complete' ? 'complete' : 'interactive';
    return { url, title, status, statusText: '', loadState };
  }

  /** The document once the condition is true, or at the timeout. */
  async function readUntil(
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

  /** Waits for the document, then for a limited time for everything else. */
  async function awaitDocument(
    waitUntil: LoadRequest['waitUntil'],
    call: EngineCall,
    loadMs = LOAD_MS,
  ): Promise<PageResponse> {
    if (waitUntil === 'commit') return channel.readDocument(call);
    const parsed = await readUntil(({ readyState }) => readyState !== 'loading', DOCUMENT_MS, call);
    if (waitUntil === 'domcontentloaded') return parsed;
    const loaded = await readUntil(({ readyState }) => readyState === 'complete', loadMs, call);
    if (waitUntil !== 'networkidle') return loaded;
    await channel.callScript('quiet', { quietMs: IDLE_MS, capMs: loadMs }, call);
    return channel.readDocument(call);
  }

  /** By a script; there is no answer about the history, so only a change of the document tells that the step was taken. */
  async function traverseByScript(
    direction: Direction,
    before: PageResponse,
    timeoutMs: number,
    call: EngineCall,
  ): Promise<void> {
    const step = direction === 'reload' ? 'location.reload()' : `history.${direction}()`;
    await channel.run(`() => { ${step}; }`, call);
    const isOther = ({ id, url }: PageResponse): boolean => id !== before.id || url !== before.url;
    const limit = direction === 'reload' ? timeoutMs : TRAVERSE_MS;
    if (!isOther(await readUntil(isOther, limit, call))) throw notTraversed(direction, before.url);
  }

  return {
    address: async (call) =>
      (await channel.runsScripts(call))
        ? ((await channel.callScript('address', {}, call)) as Address)
        : lastAddress,
    async navigate({ url, waitUntil, timeoutMs }, call) {
      const opened = openedShape.parse(await native.navigate(url, call, timeoutMs));
      lastAddress = { url: opened.url ?? url, title: opened.title };
      const runsScripts = (await channel.tryReadDocument(call)) !== undefined;
      const page = runsScripts ? await awaitDocument(waitUntil, call) : lastAddress;
      const redirected = withoutFragment(url) !== withoutFragment(page.url);
      return { ...finish(page, opened.status), redirected };
    },
    async traverse(direction, { waitUntil, timeoutMs }, call) {
      const before = await channel.tryReadDocument(call);
      const stepped = await native.tryCall(direction, {}, call, timeoutMs);
      if (before === undefined) {
        if (stepped === undefined) throw notSupported(backend, direction);
        const { url = lastAddress.url, title, status } = openedShape.parse(stepped.value);
        lastAddress = { url, title };
        return { ...finish(lastAddress, status), redirected: false };
      }
      if (stepped === undefined) await traverseByScript(direction, before, timeoutMs, call);
      return { ...finish(await awaitDocument(waitUntil, call), null), redirected: false };
    },
    async beginAction(call) {
      const result = await channel.run('(state) => { state.isUnloading = false; }', call);
      return result.ok ? result.response : channel.readDocument(call);
    },
    async settle(before, call) {
      await channel.callScript('quiet', { quietMs: SETTLE_QUIET_MS, capMs: SETTLE_CAP_MS }, call);
      let page = await channel.readDocument(call);
      if (page.id === before.id && page.isUnloading) {
        page = await readUntil(({ id }) => id !== before.id, SETTLE_NAVIGATION_MS, call);
      }
      if (page.id !== before.id) {
        page = await awaitDocument('load', call, SETTLE_LOAD_MS);
        onNavigated(page.url);
      }
      const { url, title } = page;
      return { navigated: page.id !== before.id || url !== before.url, url, title };
    },
  };
}

function notTraversed(direction: Direction, url: string): EngineError {
  if (direction === 'reload') {
    return new EngineError('NAVIGATION_FAILED', `${url} was not reloaded.`, { details: { url } });
  }
  return new EngineError('NO_HISTORY', `There is no page to go ${direction} to from ${url}.`, {
    hint: 'Navigate to an address instead.',
    details: { url },
  });
}

function withoutFragment(url: string): string {
  return URL.canParse(url) ? new URL(url).href.replace(/#.*$/s, '') : url;
}
