import { ToolError } from '../../errors.ts';

/** A key as the protocol describes it. */
export interface Key {
  readonly key: string;
  readonly code: string;
  readonly keyCode: number;
  /** The text that it types, if any. */
  readonly text: string;
}

export type ModifierKey = 'Alt' | 'Control' | 'Meta' | 'Shift';

/** A key and the modifier keys that are pressed with it. */
export interface KeyPress {
  readonly key: Key;
  readonly modifierKeys: readonly ModifierKey[];
}

/** The protocol's bit for each modifier key. */
export const MODIFIER_BITS: Readonly<Record<ModifierKey, number>> = {
  Alt: 1,
  Control: 2,
  Meta: 4,
  Shift: 8,
};

const NAMED: Readonly<Record<string, readonly [keyCode: number, text?: string]>> = {
  Alt: [18],
  ArrowDown: [40],
  ArrowLeft: [37],
  ArrowRight: [39],
  ArrowUp: [38],
  Backspace: [8],
  CapsLock: [20],
  ContextMenu: [93],
  Control: [17],
  Delete: [46],
  End: [35],
  Enter: [13, '\r'],
  Escape: [27],
  Home: [36],
  Insert: [45],
  Meta: [91],
  PageDown: [34],
  PageUp: [33],
  Pause: [19],
  PrintScreen: [44],
  Shift: [16],
  Tab: [9],
};

const ALIASES: Readonly<Record<string, string>> = {
  cmd: 'Meta',
  command: 'Meta',
  control: 'Control',
  controlormeta: process.platform === 'darwin' ? 'Meta' : 'Control',
  ctrl: 'Control',
  del: 'Delete',
  down: 'ArrowDown',
  esc: 'Escape',
  left: 'ArrowLeft',
  option: 'Alt',
  return: 'Enter',
  right: 'ArrowRight',
  space: ' ',
  spacebar: ' ',
  up: 'ArrowUp',
  win: 'Meta',
};

// The characters of a US keyboard with and without Shift, by the code of the key.
const PRINTED: readonly (readonly [
  code: string,
  keyCode: number,
  plain: string,
  shifted: string,
])[] = [
  ['Space', 32, ' ', ' '],
  ['Minus', 189, '-', '_'],
  ['Equal', 187, '=', '+'],
  ['BracketLeft', 219, '[', '{'],
  ['BracketRight', 221, ']', '}'],
  ['Backslash', 220, '\\', '|'],
  ['Semicolon', 186, ';', ':'],
  ['Quote', 222, "'", '"'],
  ['Backquote', 192, '`', '~'],
  ['Comma', 188, ',', '<'],
  ['Period', 190, '.', '>'],
  ['Slash', 191, '/', '?'],
  ...Array.from(
    ')!@#$%^&*(',
    (shifted, digit) => [`Digit${digit}`, 48 + digit, String(digit), shifted] as const,
  ),
];

/** Parses a key or a key combination, such as `a`, `Enter` or `Control+Shift+K`. */
export function parseKeyPress(text: string): KeyPress {
  const parts = splitChord(text);
  const name = parts.at(-1);
  if (name === undefined) throw invalidKey(text, text);
  const modifierKeys = parts.slice(0, -1).map((part) => {
    const resolved = ALIASES[part.toLowerCase()] ?? capitalized(part);
    if (!isModifierKey(resolved)) throw invalidKey(text, part);
    return resolved;
  });
  return { key: findKey(text, name, modifierKeys), modifierKeys };
}

/** The key that types a character; its code is empty if the keyboard has no such key. */
export const characterKey = (character: string): Key => printedKey(character, []);

function isModifierKey(name: string): name is ModifierKey {
  return name in MODIFIER_BITS;
}

function splitChord(text: string): readonly string[] {
  if (text === '+' || text === ' ') return [text];
  // The plus sign itself may be the last key, as in `Control++`.
  const isPlus = text.endsWith('++');
  const parts = (isPlus ? text.slice(0, -2) : text).split('+').map((part) => part.trim());
  return [...parts, ...(isPlus ? ['+'] : [])].filter((part) => part !== '');
}

function findKey(chord: string, name: string, modifierKeys: readonly ModifierKey[]): Key {
  const resolved = ALIASES[name.toLowerCase()] ?? name;
  if (Array.from(resolved).length === 1) return printedKey(resolved, modifierKeys);
  const printed = characterOfCode(resolved);
  if (printed !== undefined) return printedKey(printed, modifierKeys);
  const exact = Object.keys(NAMED).find((known) => known.toLowerCase() === resolved.toLowerCase());
  const [keyCode, text = ''] = (exact === undefined ? undefined : NAMED[exact]) ?? [];
  if (exact !== undefined && keyCode !== undefined) {
    const code = isModifierKey(exact) ? `${exact}Left` : exact;
    return { key: exact, code, keyCode, text: isShortcut(modifierKeys) ? '' : text };
  }
  const functionKey = /^f(\d{1,2})$/i.exec(resolved);
  const number = Number(functionKey?.[1] ?? 0);
  if (number < 1 || number > 24) throw invalidKey(chord, name);
  return { key: `F${number}`, code: `F${number}`, keyCode: 111 + number, text: '' };
}

/** The character of a key that is named by its code, such as `KeyA`, `Digit1` or `Slash`. */
function characterOfCode(name: string): string | undefined {
  const letter = /^key([a-z])$/i.exec(name)?.[1]?.toLowerCase();
  if (letter !== undefined) return letter;
  const found = PRINTED.find(([code]) => code.toLowerCase() === name.toLowerCase());
  return found?.[2];
}

/** The character that a key types while Shift is pressed. */
function withShift(character: string): string {
  if (/^[a-z]$/.test(character)) return character.toUpperCase();
  return PRINTED.find(([, , plain]) => plain === character)?.[3] ?? character;
}

function printedKey(given: string, modifierKeys: readonly ModifierKey[]): Key {
  const character = modifierKeys.includes('Shift') ? withShift(given) : given;
  const text = isShortcut(modifierKeys) ? '' : character;
  const letter = /^[a-z]$/i.test(character) ? character.toUpperCase() : undefined;
  if (letter !== undefined) {
    // With Control but not Shift, a keyboard sends the lowercase letter.
    const key =
      isShortcut(modifierKeys) && !modifierKeys.includes('Shift')
        ? character.toLowerCase()
        : character;
    return { key, code: `Key${letter}`, keyCode: letter.charCodeAt(0), text };
  }
  const found = PRINTED.find(
    ([, , plain, shifted]) => plain === character || shifted === character,
  );
  const [code = '', keyCode = 0] = found ?? [];
  return { key: character, code, keyCode, text };
}

const isShortcut = (modifierKeys: readonly ModifierKey[]): boolean =>
  modifierKeys.some((key) => key !== 'Shift');

const capitalized = (text: string): string =>
  text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();

function invalidKey(chord: string, part: string): ToolError {
  return new ToolError(
    'INVALID_KEY',
    part === chord
      ? `${JSON.stringify(chord)} is not a key.`
      : `${JSON.stringify(part)} in ${JSON.stringify(chord)} is not a key.`,
    {
      hint: 'Use a character, a name such as Enter, Escape, Tab, ArrowDown, PageUp or F5, or a chord such as Control+A.',
      details: { key: chord },
    },
  );
}
