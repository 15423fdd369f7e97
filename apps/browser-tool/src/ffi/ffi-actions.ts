import type {
  ActionOutcome,
  Call,
  ClickOutcome,
  ClickRequest,
  PressRequest,
  ScrollOutcome,
  ScrollRequest,
  TypeOutcome,
  TypeRequest,
} from '../engine.ts';
import type { ReadinessRequest } from '../page-scripts/readiness.ts';
import { characterKey, parseKeyPress } from '../cdp/keys.ts';
import { editingError } from '../session/editing-error.ts';
import { notReadyError } from '../session/not-ready.ts';
import { ToolError } from '../tool-error.ts';
import { beginAction, settleAction } from './ffi-navigation.ts';
import { queryOf, refOf, type FfiSession } from './ffi-session.ts';
import { clickElement, insertText, pressKey } from './page-actions.ts';

const SCRIPT_MARGIN_MS = 5_000;

/** Clicks an element, with the engine's own mouse where it has one. */
export async function clickFfi(
  session: FfiSession,
  request: ClickRequest,
  call: Call,
): Promise<ClickOutcome> {
  const { target, position, force, timeoutMs, button, double, modifiers } = request;
  const { element, point, before } = await makeReady(session, call, target, {
    action: 'click',
    position,
    force,
    timeoutMs,
  });
  const { native, channel } = session;
  const parameters = { ...point, button, double, modifiers };
  const isDone =
    (await channel.agent('clickOption', { ref: element.ref }, call)) ||
    (await native.tryCall('click', parameters, call)) !== undefined;
  if (!isDone) await act(session, element.ref, clickElement, parameters, call);
  return { target: element, ...(await settleAction(session, before, call)) };
}

/** Types into a field. */
export async function typeFfi(
  session: FfiSession,
  { target, text, clear, submit, slowly, timeoutMs }: TypeRequest,
  call: Call,
): Promise<TypeOutcome> {
  const { element, before } = await makeReady(session, call, target, {
    action: 'type',
    position: undefined,
    force: false,
    timeoutMs,
  });
  const { ref } = element;
  const start = await session.channel.agent('edit', { ref, text, clear }, call);
  if (!start.ok) throw editingError(target, element, text, start);
  if (start.kind === 'keyboard') await enterText(session, text, slowly, call);
  const value = await session.channel.agent('read', { ref }, call);
  if (submit) await press(session, 'Enter', call);
  return { target: element, value, ...(await settleAction(session, before, call)) };
}

/** Presses a key, or several together, on what has the focus. */
export async function pressFfi(
  session: FfiSession,
  { key, target, count, timeoutMs }: PressRequest,
  call: Call,
): Promise<ActionOutcome> {
  parseKeyPress(key);
  const before =
    target === undefined
      ? await beginAction(session, call)
      : await focus(session, target, timeoutMs, call);
  for (let round = 0; round < count; round += 1) await press(session, key, call);
  return settleAction(session, before, call);
}

/** Scrolls the page or an element. */
export async function scrollFfi(
  session: FfiSession,
  { target, deltaX, deltaY, to }: ScrollRequest,
  call: Call,
): Promise<ScrollOutcome> {
  const { channel } = session;
  const ref = target === undefined ? undefined : await refOf(session, target, call);
  const place = await channel.agent('scroll', { ref, deltaX, deltaY, to }, call);
  return { ...place, ...(await channel.agent('address', undefined, call)) };
}

async function makeReady(
  session: FfiSession,
  call: Call,
  target: string,
  request: Omit<ReadinessRequest, 'query'>,
) {
  const query = await queryOf(session, target, call);
  const before = await beginAction(session, call);
  const limit = request.timeoutMs + SCRIPT_MARGIN_MS;
  const ready = await session.channel.agent('ready', { ...request, query }, call, limit);
  if (!ready.ok) throw notReadyError(target, ready, request.timeoutMs);
  return { element: ready.element, point: ready.point, before };
}

async function focus(session: FfiSession, target: string, timeoutMs: number, call: Call) {
  const request = { action: 'focus' as const, position: undefined, force: false, timeoutMs };
  const { element, before } = await makeReady(session, call, target, request);
  await session.channel.agent('focus', { ref: element.ref }, call);
  return before;
}

async function enterText(
  session: FfiSession,
  text: string,
  slowly: boolean,
  call: Call,
): Promise<void> {
  if ((await session.native.tryCall('type', { text, slowly }, call)) !== undefined) return;
  const insert = (part: string): Promise<unknown> =>
    session.channel.run(`(state) => (${String(insertText)})(state, ${JSON.stringify(part)})`, call);
  if (!slowly || text === '') {
    await insert(text);
    return;
  }
  for (const character of text.replace(/\r\n?/g, '\n')) {
    if (character === '\n') await press(session, 'Enter', call);
    else if (characterKey(character).code === '') await insert(character);
    else await press(session, character, call);
  }
}

async function press(session: FfiSession, key: string, call: Call): Promise<void> {
  const { key: pressed, held } = parseKeyPress(key);
  if ((await session.native.tryCall('press', { key }, call)) !== undefined) return;
  const parameters = { key: pressed.key, code: pressed.code, modifiers: held };
  await session.channel.run(
    `(state) => (${String(pressKey)})(state, ${JSON.stringify(parameters)})`,
    call,
  );
}

/** Runs an action on an element. That the document goes away in the middle is what many actions are for. */
async function act<Parameters extends object>(
  { channel }: FfiSession,
  ref: string,
  action: (element: Element, parameters: Parameters) => void,
  parameters: Parameters,
  call: Call,
): Promise<void> {
  const given = JSON.stringify(parameters);
  const body = `(state) => {
    const element = state.agent.elementOf(${JSON.stringify(ref)});
    if (element !== undefined) (${String(action)})(element, ${given});
  }`;
  const result = await channel.run(body, call);
  if (result.ok && result.answer.error !== undefined) {
    throw new ToolError(
      'INTERNAL',
      `A script of the tool failed in the page: ${result.answer.error.message}.`,
    );
  }
}
