import { characterKey, parseKeyPress } from '../chromium/input/keys.ts';
import type { EngineCall, EngineMethod } from '../engine.ts';
import type { ReadinessRequest } from '../injected/readiness.ts';
import { pageError } from '../errors.ts';
import { editingError, elementText, notReadyError } from '../session/element-errors.ts';
import { callScript, queryOf, refOf, type ForeignPage } from './foreign-page.ts';

const SCRIPT_MARGIN_MS = 5_000;

/** Clicks an element. */
export const click: EngineMethod<'click', ForeignPage> = async (page, request, call) => {
  const { target, position, force, timeoutMs, button, doubleClick, modifiers } = request;
  const ready = { action: 'click', position, force, timeoutMs } as const;
  const { element, point, before } = await makeReady(page, target, ready, call);
  const { ref } = element;
  if (!(await callScript(page, 'clickOption', { ref }, call))) {
    const parameters = { ...point, button, double: doubleClick, modifiers };
    await page.engine.click(ref, parameters, call);
  }
  return { target: element, ...(await page.engine.settle(before, call)) };
};

/** Types into a field. */
export const type: EngineMethod<'type', ForeignPage> = async (
  page,
  { target, text, clear, submit, slowly, timeoutMs },
  call,
) => {
  const ready = { action: 'type', position: undefined, force: false, timeoutMs } as const;
  const { element, before } = await makeReady(page, target, ready, call);
  const { ref } = element;
  const start = await callScript(page, 'edit', { ref, text, clear }, call);
  if (!start.ok) throw editingError(target, element, text, start);
  if (start.kind === 'keyboard') await enterText(page, text, slowly, call);
  const value = await callScript(page, 'read', { ref }, call);
  if (submit) await pressKey(page, 'Enter', call);
  return { target: element, value, ...(await page.engine.settle(before, call)) };
};

/** Presses a key or a key combination on the focused element. */
export const press: EngineMethod<'press', ForeignPage> = async (
  page,
  { key, target, count, timeoutMs },
  call,
) => {
  parseKeyPress(key);
  const before =
    target === undefined
      ? await page.engine.beginAction(call)
      : await focus(page, target, timeoutMs, call);
  for (let round = 0; round < count; round += 1) await pressKey(page, key, call);
  return page.engine.settle(before, call);
};

/** Scrolls the page or an element. */
export const scroll: EngineMethod<'scroll', ForeignPage> = async (
  page,
  { target, deltaX, deltaY, to },
  call,
) => {
  const ref = target === undefined ? undefined : await refOf(page, target, call);
  const place = await callScript(page, 'scroll', { ref, deltaX, deltaY, to }, call);
  return { ...place, ...(await page.engine.address(call)) };
};

async function makeReady(
  page: ForeignPage,
  target: string,
  request: Omit<ReadinessRequest, 'query'>,
  call: EngineCall,
) {
  const query = await queryOf(page, target, call);
  const before = await page.engine.beginAction(call);
  const limit = request.timeoutMs + SCRIPT_MARGIN_MS;
  const ready = await callScript(page, 'ready', { ...request, query }, call, limit);
  if (!ready.ok) throw notReadyError(target, ready, request.timeoutMs);
  return { element: ready.element, point: ready.point, before };
}

async function focus(page: ForeignPage, target: string, timeoutMs: number, call: EngineCall) {
  const ready = { action: 'press', position: undefined, force: false, timeoutMs } as const;
  const { element, before } = await makeReady(page, target, ready, call);
  const outcome = await callScript(page, 'focus', { ref: element.ref }, call);
  if (outcome === 'stale') throw pageError('removed', { target }, { target });
  if (outcome === 'not-focused')
    throw pageError(
      'notFocusable',
      { element: elementText(element) },
      { field: 'target', target, element },
    );
  return before;
}

async function enterText(
  page: ForeignPage,
  text: string,
  slowly: boolean,
  call: EngineCall,
): Promise<void> {
  const { engine } = page;
  if (await engine.tryType(text, slowly, call)) return;
  if (!slowly || text === '') {
    await engine.insertText(text, call);
    return;
  }
  for (const character of text.replace(/\r\n?/g, '\n')) {
    if (character === '\n') await pressKey(page, 'Enter', call);
    else if (characterKey(character).code === '') await engine.insertText(character, call);
    else await pressKey(page, character, call);
  }
}

async function pressKey({ engine }: ForeignPage, text: string, call: EngineCall): Promise<void> {
  const { key, modifierKeys: modifiers } = parseKeyPress(text);
  await engine.press(text, { key: key.key, code: key.code, modifiers }, call);
}
