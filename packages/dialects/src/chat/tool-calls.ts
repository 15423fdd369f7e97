import { numberOf, randomToken } from '@model-gateway/kernel';
import { countField, fieldOf, listField, textField } from '../turn/fields.ts';

type Fields = Readonly<Record<string, unknown>>;

const CALL_ID_BYTES = 12;

/** The id of a call whose upstream gave none. */
export const newCallId = (): string => `call_${randomToken(CALL_ID_BYTES)}`;

/** The tool calls of a message or delta. TGI sends one object in place of a list. */
export function callsOf(said: unknown): readonly unknown[] {
  const calls = fieldOf(said, 'tool_calls');
  return isFields(calls) ? [calls] : listField(said, 'tool_calls');
}

/** A piece of a streamed call. */
interface CallPiece {
  /** Which of the calls it belongs to. */
  readonly index: number;
  /** Whether it is the first one of its call. */
  readonly isFirst: boolean;
  /** Of the call, also where this piece does not have it. */
  readonly id: string;
  readonly name: string;
  /** What it adds to the arguments; undefined for nothing. */
  readonly text: string | undefined;
}

/** Tells the streamed calls of one answer apart. */
export function createCallPieces(): (call: unknown, position: number) => CallPiece {
  /** The call that each index of the upstream stands for now. */
  const current = new Map<number, CallPiece & { readonly givenId: string | undefined }>();
  let begun = 0;

  return (call, position) => {
    const place = countField(call, 'index');
    const called = fieldOf(call, 'function');
    const givenId = givenText(call, 'id');
    const name = givenText(called, 'name');
    const text = argumentsOf(called);
    const known = current.get(place ?? position);
    // Some upstreams give all calls the same index, or none: then another name with another id begins a call.
    const isOther =
      name !== undefined &&
      (givenId === undefined || known?.givenId === undefined
        ? place === undefined
        : givenId !== known.givenId);
    if (known !== undefined && !isOther) return { ...known, isFirst: false, text };
    const id = givenId ?? newCallId();
    const first = { index: begun, isFirst: true, id, givenId, name: name ?? '', text };
    begun += 1;
    current.set(place ?? position, first);
    return first;
  };
}

/** Arguments are text or, at some upstreams, an object. */
function argumentsOf(called: unknown): string | undefined {
  const given = fieldOf(called, 'arguments');
  if (typeof given === 'object' && given !== null) return JSON.stringify(given);
  return typeof given === 'string' ? given : undefined;
}

export function givenText(value: unknown, field: string): string | undefined {
  const text = textField(value, field);
  return text === '' ? undefined : text;
}

/**
 * Gives the calls of streamed chunks what clients tell them apart by: a list, an index of their own, an id, and arguments that
 * are text. Chunks that have it stay as they are.
 */
export function createCallRepair(): (chunk: Fields) => Fields {
  const pieces = new Map<number, ReturnType<typeof createCallPieces>>();

  function repairedChoice(choice: unknown): unknown {
    const delta = fieldOf(choice, 'delta');
    const given = callsOf(delta);
    if (given.length === 0 || !isFields(choice) || !isFields(delta)) return choice;
    const place = numberOf(choice['index']) ?? 0;
    const pieceOf = pieces.get(place) ?? createCallPieces();
    pieces.set(place, pieceOf);
    const calls = given.map((call, at) => repairedPiece(call, pieceOf(call, at)));
    const isWhole = given === delta['tool_calls'] && calls.every((call, at) => call === given[at]);
    return isWhole ? choice : { ...choice, delta: { ...delta, tool_calls: calls } };
  }

  return (chunk) => {
    const given = listField(chunk, 'choices');
    const choices = given.map(repairedChoice);
    return choices.every((choice, at) => choice === given[at]) ? chunk : { ...chunk, choices };
  };
}

function repairedPiece(call: unknown, piece: CallPiece): unknown {
  const called = fieldOf(call, 'function');
  if (!isFields(call) || !isFields(called)) return call;
  const { index, isFirst, id, name, text } = piece;
  const isRepeated = !isFirst && called['name'] === name && name !== '';
  const isWhole =
    countField(call, 'index') === index &&
    (!isFirst || name === '' || givenText(call, 'id') !== undefined) &&
    !isFields(called['arguments']) &&
    !isRepeated;
  if (isWhole) return call;
  const written = text === undefined ? {} : { arguments: text };
  if (isFirst) return { ...call, index, id, function: { ...called, ...written } };
  const { name: _name, ...added } = called;
  return { ...call, index, id, function: { ...(isRepeated ? added : called), ...written } };
}

/** Whether a call of a whole message has what clients need to answer it. */
export function isWholeCall(call: unknown): boolean {
  const called = fieldOf(call, 'function');
  // Others than functions have no arguments.
  if (!isFields(called)) return true;
  return givenText(call, 'id') !== undefined && typeof called['arguments'] === 'string';
}

/** A call of a whole message with an id, and with arguments that are text. */
export function wholeCall(call: unknown): unknown {
  const called = fieldOf(call, 'function');
  if (!isFields(call) || !isFields(called)) return call;
  const id = givenText(call, 'id') ?? newCallId();
  return { ...call, id, function: { ...called, arguments: argumentsOf(called) ?? '{}' } };
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
