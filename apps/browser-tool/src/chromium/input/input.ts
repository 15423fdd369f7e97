import type { Protocol } from 'devtools-protocol';
import type { Modifier, MouseButton } from '../../commands/params.ts';
import {
  characterKey,
  MODIFIER_BITS,
  parseKeyPress,
  type ModifierKey,
  type Key,
  type KeyPress,
} from './keys.ts';
import type { InputPoint } from './elements.ts';
import type { Page } from '../page/page.ts';

interface MouseClick {
  readonly point: InputPoint;
  readonly button: MouseButton;
  readonly clicks: 1 | 2;
  readonly modifiers: readonly Modifier[];
}

type MouseEventParameters = Protocol.Input.DispatchMouseEventRequest;

const BUTTON_BITS: Readonly<Record<MouseButton, number>> = { left: 1, right: 2, middle: 4 };

/**
 * Moves the mouse to the point and clicks. The events go to the process of the point: the browser would choose a process by
 * what it last drew, and drawing is late after scrolling.
 */
export async function clickMouse(page: Page, click: MouseClick): Promise<void> {
  const { point, button } = click;
  const { x, y } = point;
  const send = (event: MouseEventParameters): Promise<unknown> =>
    page.send('Input.dispatchMouseEvent', event, point.sessionId);
  const modifierKeys = click.modifiers.map(modifierKeyOf);
  const modifiers = bitsOf(modifierKeys);
  for (const name of modifierKeys) await dispatchKey(page, parseKeyPress(name), 'down', modifiers);
  const buttons = BUTTON_BITS[button];
  // Sent without waiting: the browser handles them in order, and each response waits for the page.
  const sent = [send({ type: 'mouseMoved', x, y, modifiers })];
  for (let clickCount = 1; clickCount <= click.clicks; clickCount += 1) {
    const same = { x, y, button, modifiers, clickCount };
    sent.push(send({ type: 'mousePressed', buttons, ...same }));
    sent.push(send({ type: 'mouseReleased', ...same }));
  }
  await Promise.all(sent);
  for (const name of modifierKeys) await dispatchKey(page, parseKeyPress(name), 'up', 0);
}

/** Releases the button once more, if a dialog kept the release of a click from the page. */
export async function releaseMouse(page: Page, click: MouseClick): Promise<void> {
  const { point, button } = click;
  const { x, y, sessionId } = point;
  const modifiers = bitsOf(click.modifiers.map(modifierKeyOf));
  const event = { type: 'mouseReleased', x, y, button, modifiers, clickCount: 1 } as const;
  await page.send('Input.dispatchMouseEvent', event, sessionId);
}

/** Presses a key or a key combination once. */
export async function pressKey(page: Page, { key, modifierKeys }: KeyPress): Promise<void> {
  const modifiers = bitsOf(modifierKeys);
  for (const name of modifierKeys) await dispatchKey(page, parseKeyPress(name), 'down', modifiers);
  const sent = [
    dispatch(page, key, key.text === '' ? 'rawKeyDown' : 'keyDown', modifiers),
    dispatch(page, key, 'keyUp', modifiers),
  ];
  await Promise.all(sent);
  for (const name of modifierKeys) await dispatchKey(page, parseKeyPress(name), 'up', 0);
}

/** Types a character by its key, or as text if the keyboard has no such key. */
export async function typeCharacter(page: Page, character: string): Promise<void> {
  if (character === '\n') {
    await pressKey(page, parseKeyPress('Enter'));
    return;
  }
  const key = characterKey(character);
  if (key.code === '') await page.send('Input.insertText', { text: character });
  else await pressKey(page, { key, modifierKeys: [] });
}

function modifierKeyOf(modifier: Modifier): ModifierKey {
  if (modifier !== 'ControlOrMeta') return modifier;
  return process.platform === 'darwin' ? 'Meta' : 'Control';
}

function bitsOf(modifierKeys: readonly ModifierKey[]): number {
  return modifierKeys.reduce((bits, name) => bits | MODIFIER_BITS[name], 0);
}

function dispatchKey(
  page: Page,
  { key }: KeyPress,
  direction: 'down' | 'up',
  modifiers: number,
): Promise<unknown> {
  return dispatch(page, key, direction === 'down' ? 'rawKeyDown' : 'keyUp', modifiers);
}

async function dispatch(
  page: Page,
  { key, code, keyCode, text }: Key,
  type: 'keyDown' | 'rawKeyDown' | 'keyUp',
  modifiers: number,
): Promise<void> {
  await page.send('Input.dispatchKeyEvent', {
    type,
    key,
    code,
    modifiers,
    windowsVirtualKeyCode: keyCode,
    ...(type === 'keyDown' ? { text, unmodifiedText: text } : {}),
  });
}
