import type { EngineCall, EngineMethod } from '../engine.ts';
import type { ReadinessRequest } from '../injected/readiness.ts';
import { characterKey, parseKeyPress } from '../chromium/input/keys.ts';
import { editingError } from '../session/editing-error.ts';
import { notFocusedError, notReadyError } from '../session/not-ready.ts';
import { ToolError } from '../errors.ts';
import { beginAction, settleAction } from './ffi-navigation.ts';
import { queryOf, refOf, type FfiContext } from './ffi-context.ts';
import { clickElement, insertText, pressKey } from './page-actions.ts';

const SCRIPT_MARGIN_MS = 5_000;

/** Clicks an element, with the engine's mouse if it has one. */
export const clickFfi: EngineMethod<'click', FfiContext> = async (ffi, request, call) => {
  const { target, position, force, timeoutMs, button, doubleClick, modifiers } = request;
  const { element, point, before } = await makeReady(ffi, call, target, {
    action: 'click',
    position,
    force,
    timeoutMs,
  });
  const { native, channel } = ffi;
  const parameters = { ...point, button, double: doubleClick, modifiers };
  const isDone =
    (await channel.callScript('clickOption', { ref: element.ref }, call)) ||
    (await native.tryCall('click', parameters, call)) !== undefined;
  if (!isDone) await act(ffi, element.ref, clickElement, parameters, call);
  return { target: element, ...(await settleAction(ffi, before, call)) };
};

/** Types into a field. */
export const typeFfi: EngineMethod<'type', FfiContext> = async (
  ffi,
  { target, text, clear, submit, slowly, timeoutMs },
  call,
) => {
  const { element, before } = await makeReady(ffi, call, target, {
    action: 'type',
    position: undefined,
    force: false,
    timeoutMs,
  });
  const { ref } = element;
  const start = await ffi.channel.callScript('edit', { ref, text, clear }, call);
  if (!start.ok) throw editingError(target, element, text, start);
  if (start.kind === 'keyboard') await enterText(ffi, text, slowly, call);
  const value = await ffi.channel.callScript('read', { ref }, call);
  if (submit) await press(ffi, 'Enter', call);
  return { target: element, value, ...(await settleAction(ffi, before, call)) };
};

/** Presses a key or a key combination on the focused element. */
export const pressFfi: EngineMethod<'press', FfiContext> = async (
  ffi,
  { key, target, count, timeoutMs },
  call,
) => {
  parseKeyPress(key);
  const before =
    target === undefined ? await beginAction(ffi, call) : await focus(ffi, target, timeoutMs, call);
  for (let round = 0; round < count; round += 1) await press(ffi, key, call);
  return settleAction(ffi, before, call);
};

/** Scrolls the page or an element. */
export const scrollFfi: EngineMethod<'scroll', FfiContext> = async (
  ffi,
  { target, deltaX, deltaY, to },
  call,
) => {
  const { channel } = ffi;
  const ref = target === undefined ? undefined : await refOf(ffi, target, call);
  const place = await channel.callScript('scroll', { ref, deltaX, deltaY, to }, call);
  return { ...place, ...(await channel.callScript('address', undefined, call)) };
};

async function makeReady(
  ffi: FfiContext,
  call: EngineCall,
  target: string,
  request: Omit<ReadinessRequest, 'query'>,
) {
  const query = await queryOf(ffi, target, call);
  const before = await beginAction(ffi, call);
  const limit = request.timeoutMs + SCRIPT_MARGIN_MS;
  const ready = await ffi.channel.callScript('ready', { ...request, query }, call, limit);
  if (!ready.ok) throw notReadyError(target, ready, request.timeoutMs);
  return { element: ready.element, point: ready.point, before };
}

async function focus(ffi: FfiContext, target: string, timeoutMs: number, call: EngineCall) {
  const request = { action: 'press' as const, position: undefined, force: false, timeoutMs };
  const { element, before } = await makeReady(ffi, call, target, request);
  const outcome = await ffi.channel.callScript('focus', { ref: element.ref }, call);
  if (outcome === 'stale') throw notReadyError(target, { ok: false, why: 'stale' }, 0);
  if (outcome === 'not-focused') throw notFocusedError(target, element);
  return before;
}

async function enterText(
  ffi: FfiContext,
  text: string,
  slowly: boolean,
  call: EngineCall,
): Promise<void> {
  if ((await ffi.native.tryCall('type', { text, slowly }, call)) !== undefined) return;
  const insert = (part: string): Promise<unknown> =>
    ffi.channel.run(`(state) => (${String(insertText)})(state, ${JSON.stringify(part)})`, call);
  if (!slowly || text === '') {
    await insert(text);
    return;
  }
  for (const character of text.replace(/\r\n?/g, '\n')) {
    if (character === '\n') await press(ffi, 'Enter', call);
    else if (characterKey(character).code === '') await insert(character);
    else await press(ffi, character, call);
  }
}

async function press(ffi: FfiContext, key: string, call: EngineCall): Promise<void> {
  const { key: pressed, modifierKeys } = parseKeyPress(key);
  if ((await ffi.native.tryCall('press', { key }, call)) !== undefined) return;
  const parameters = { key: pressed.key, code: pressed.code, modifiers: modifierKeys };
  await ffi.channel.run(
    `(state) => (${String(pressKey)})(state, ${JSON.stringify(parameters)})`,
    call,
  );
}

/** Runs an action on an element. An action may unload the document. */
async function act<Parameters extends object>(
  { channel }: FfiContext,
  ref: string,
  action: (element: Element, parameters: Parameters) => void,
  parameters: Parameters,
  call: EngineCall,
): Promise<void> {
  const given = JSON.stringify(parameters);
  const body = `(state) => {
    const element = state.scripts.elementOf(${JSON.stringify(ref)});
    if (element !== undefined) (${String(action)})(element, ${given});
  }`;
  const result = await channel.run(body, call);
  if (result.ok && result.response.error !== undefined) {
    throw new ToolError(
      'INTERNAL',
      `A script of the tool failed in the page: ${result.response.error.message}.`,
    );
  }
}
