import type { ActionOutcome, ElementReport, EngineCall, EngineMethod } from '../../engine.ts';
import type { ClickRequest, TypeRequest } from '../../commands/params.ts';
import { pageError } from '../../errors.ts';
import { editingError, elementText } from '../../session/element-errors.ts';
import { readAddress, destinationOf } from '../navigation/address.ts';
import { isDocumentUnloaded, type PageScripts } from '../page/page-scripts.ts';
import type { Browser } from '../browser.ts';
import type { Elements, ReadyElement } from './elements.ts';
import { clickMouse, pressKey, releaseMouse, typeCharacter } from './input.ts';
import { parseKeyPress } from './keys.ts';
import type { Page } from '../page/page.ts';
import { readPressArrival } from './press-arrival.ts';
import { markPage, settle, type SettleMark } from './settle.ts';

/** The actions that commands perform on a page. */
export interface Actions {
  readonly click: EngineMethod<'click', Page>;
  readonly type: EngineMethod<'type', Page>;
  readonly press: EngineMethod<'press', Page>;
  readonly scroll: EngineMethod<'scroll', Page>;
  /** Adds the URL of a tab that a page opened, during this call or before it. */
  reportOpenedTab(call: EngineCall): Promise<void>;
  /** Waits for the first document of a tab that a page opened. */
  awaitOpenedTab(page: Page, call: EngineCall): Promise<void>;
}

/** Typing without submitting rarely navigates: only a navigation that starts while the page settles is awaited. */
const TYPE_NAVIGATION_START_MS = 0;

export function createActions(browser: Browser, scripts: PageScripts, elements: Elements): Actions {
  /** Waits until the page settles and returns its address; a tab that the action opened becomes the page. */
  async function finish(
    page: Page,
    mark: SettleMark,
    call: EngineCall,
    navigationStartMs?: number,
  ): Promise<ActionOutcome> {
    return report(page, await settle(page, scripts, mark, call, navigationStartMs), mark, call);
  }

  async function report(
    page: Page,
    navigated: boolean,
    mark: SettleMark,
    call: EngineCall,
  ): Promise<ActionOutcome> {
    const shown = await browser.activePage();
    if (shown !== page) {
      // A tab from before opened no page of its own.
      const url = browser.opened?.page === shown ? browser.opened.url : '';
      await waitForTab(shown, url, call);
    }
    await reportOpenedTab(call);
    const address = await readAddress(shown, scripts, call);
    const { pendingUrl } = shown.loading;
    return { navigated, ...address, ...responseOf(shown, page, mark), pendingUrl };
  }

  async function reportOpenedTab(call: EngineCall): Promise<void> {
    const { opened } = browser;
    if (call.notes.openedTab?.url !== '' || opened === undefined) return;
    await waitForTabStart(opened.page, opened.url, call);
    const url = destinationOf(opened.page);
    call.notes.openedTab = { url: isBlank(url) ? opened.url || url : url };
  }

  async function awaitOpenedTab(page: Page, call: EngineCall): Promise<void> {
    const { opened } = browser;
    if (opened?.page === page && page.loading.shown <= 1 && !page.loading.hasContent)
      await waitForTab(page, opened.url, call);
  }

  /** Answers the frame of the element. */
  async function focus(
    page: Page,
    target: string,
    timeoutMs: number,
    call: EngineCall,
  ): Promise<string> {
    const options = { action: 'press', force: false, timeoutMs } as const;
    const { frameId, element } = await elements.ready(page, target, options, call);
    const focusIt = () => scripts.call(page, frameId, 'focus', { ref: element.ref }, call);
    let outcome = await focusIt();
    if (outcome === 'not-focused' && frameId !== page.main.id) {
      await scripts.focusFrame(page, frameId, call);
      outcome = await focusIt();
    }
    if (outcome === 'stale') throw pageError('removed', { target }, { target });
    if (outcome === 'not-focused')
      throw pageError(
        'notFocusable',
        { element: elementText(element) },
        { field: 'target', target, element },
      );
    return frameId;
  }

  return {
    async click(page, request, call) {
      const end = performance.now() + request.timeoutMs;
      for (let { timeoutMs } = request; ; timeoutMs = Math.round(end - performance.now())) {
        const clicked = await clickOnce(page, { ...request, timeoutMs }, call);
        if ('outcome' in clicked) return { target: clicked.element, ...clicked.outcome };
        if (performance.now() >= end) throw missedClick(request, clicked);
      }
    },

    async type(page, { target, text, clear, submit, slowly, timeoutMs }, call) {
      const options = { action: 'type', force: false, timeoutMs } as const;
      const ready = await elements.ready(page, target, options, call);
      const mark = markPage(page, ready.frameId);
      await enterText(page, ready, { target, text, clear, slowly }, call);
      const reading = scripts
        .call(page, ready.frameId, 'read', { ref: ready.element.ref }, call)
        .catch((error: unknown) => {
          ignoreUnloaded(error);
          return '';
        });
      if (submit) {
        // The field may be removed with its page.
        await reading;
        await pressKey(page, parseKeyPress('Enter')).catch(ignoreUnloaded);
      }
      const start = submit ? undefined : TYPE_NAVIGATION_START_MS;
      const [value, outcome] = await Promise.all([reading, finish(page, mark, call, start)]);
      return { target: ready.element, value, ...outcome };
    },

    reportOpenedTab,
    awaitOpenedTab,

    async press(page, { key, target, count, timeoutMs }, call) {
      const press = parseKeyPress(key);
      const frameId = target === undefined ? undefined : await focus(page, target, timeoutMs, call);
      const mark = markPage(page, frameId);
      for (let time = 0; time < count; time += 1) {
        call.signal.throwIfAborted();
        await pressKey(page, press).catch(ignoreUnloaded);
      }
      return finish(page, mark, call);
    },

    async scroll(page, { target, deltaX, deltaY, to, timeoutMs }, call) {
      const options = { action: 'focus', force: false, timeoutMs } as const;
      const found =
        target === undefined ? undefined : await elements.ready(page, target, options, call);
      const parameters = { ref: found?.element.ref, deltaX, deltaY, to };
      const place = await scripts.call(
        page,
        found?.frameId ?? page.main.id,
        'scroll',
        parameters,
        call,
      );
      return { ...place, ...(await readAddress(page, scripts, call)) };
    },
  };

  /** Clicks an element when it is ready; without an outcome if the click did not arrive there, which had no effect. */
  async function clickOnce(
    page: Page,
    { target, button, doubleClick, modifiers, position, force, timeoutMs }: ClickRequest,
    call: EngineCall,
  ): Promise<{ readonly element: ElementReport; readonly outcome: ActionOutcome } | MissedClick> {
    const options = { action: 'click', position, force, expectsPress: true, timeoutMs } as const;
    const { element, point, frameId } = await elements.ready(page, target, options, call);
    const mark = markPage(page, frameId);
    const isSelected =
      element.tag === 'option' &&
      (await scripts.call(page, frameId, 'clickOption', { ref: element.ref }, call));
    if (isSelected) return { element, outcome: await finish(page, mark, call) };
    const click = { point, button, modifiers, clicks: doubleClick ? 2 : 1 } as const;
    const dialogsBefore = call.notes.dialogs.length;
    await clickMouse(page, click).catch(ignoreUnloaded);
    const [navigated, arrival] = await Promise.all([
      settle(page, scripts, mark, call),
      readPressArrival(page, scripts, frameId, call),
    ]);
    const wasInterrupted = call.notes.dialogs.length > dialogsBefore;
    if (wasInterrupted && arrival.at === 'target' && !arrival.isReleased) {
      await releaseMouse(page, click).catch(ignoreUnloaded);
      return { element, outcome: await finish(page, mark, call) };
    }
    if (arrival.at === 'nowhere') return { element, otherMarkup: undefined };
    if (arrival.at === 'other-element') return { element, otherMarkup: arrival.markup };
    return { element, outcome: await report(page, navigated, mark, call) };
  }

  async function enterText(
    page: Page,
    { frameId, element, point }: ReadyElement,
    { target, text, clear, slowly }: Pick<TypeRequest, 'target' | 'text' | 'clear' | 'slowly'>,
    call: EngineCall,
  ): Promise<void> {
    const start = () =>
      scripts.call(page, frameId, 'edit', { ref: element.ref, text, clear }, call);
    let started = await start();
    if (started.ok && !started.isFocused) {
      // Frames of other processes get the keyboard focus only by a click.
      await clickMouse(page, { point, button: 'left', modifiers: [], clicks: 1 });
      started = await start();
    }
    if (!started.ok) throw editingError(target, element, text, started);
    if (started.kind === 'done') return;
    const { focusedMarkup: other } = started;
    if (other !== undefined)
      throw pageError('focusTaken', { element: elementText(element), other }, { target, element });
    if (text === '') {
      if (clear) await pressKey(page, parseKeyPress('Delete'));
    } else if (slowly) {
      for (const character of text.replace(/\r\n?/g, '\n')) {
        call.signal.throwIfAborted();
        await typeCharacter(page, character);
      }
    } else await page.send('Input.insertText', { text });
  }
}

/** A click that did not arrive at its element. */
interface MissedClick {
  readonly element: ElementReport;
  /** The element that was in its place. */
  readonly otherMarkup: string | undefined;
}

function missedClick(
  { target, timeoutMs: ms }: ClickRequest,
  { element, otherMarkup }: MissedClick,
): Error {
  const why = otherMarkup === undefined ? '' : `: ${otherMarkup} was in its place`;
  const values = { element: elementText(element), ms, why };
  return pageError('missedClick', values, { target, element });
}

/** The HTTP status of the document that an action opened. */
function responseOf(
  shown: Page,
  page: Page,
  mark: SettleMark,
): Pick<ActionOutcome, 'status' | 'statusText'> {
  const { loaderId } = shown.loading;
  const isNew = shown !== page || loaderId !== mark.loaderId;
  const answer = isNew ? shown.loading.responseOf(loaderId) : undefined;
  return answer === undefined ? {} : { status: answer.status, statusText: answer.statusText };
}

const TAB_TIMEOUT_MS = 10_000;
const TAB_START_MS = 2_000;
const BLANK_TAB_START_MS = 200;
/** For a tab that no script opened: it always loads something. */
const LINK_TAB_START_MS = 5_000;

const isBlank = (url: string): boolean => url === '' || url === 'about:blank';

/** Waits for the document of a new tab. */
async function waitForTab(page: Page, url: string | undefined, call: EngineCall): Promise<void> {
  const { loading, changes } = page;
  await waitForTabStart(page, url, call);
  await changes.until(() => page.hasEnded || (!loading.isNavigating && loading.hasContent), {
    timeoutMs: TAB_TIMEOUT_MS,
    signal: call.signal,
  });
}

/** Waits until a tab starts to load. Tabs start empty, and some stay empty. */
async function waitForTabStart(
  page: Page,
  url: string | undefined,
  { signal }: EngineCall,
): Promise<void> {
  const hasStarted = (): boolean => page.hasEnded || !isBlank(destinationOf(page));
  await page.changes.until(hasStarted, { timeoutMs: tabStartMs(url), signal });
}

function tabStartMs(url: string | undefined): number {
  if (url === undefined) return LINK_TAB_START_MS;
  return isBlank(url) ? BLANK_TAB_START_MS : TAB_START_MS;
}

/** A successful action may unload the page. */
function ignoreUnloaded(error: unknown): void {
  if (!isDocumentUnloaded(error)) throw error;
}
