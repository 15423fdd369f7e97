import { numberOf } from '@model-gateway/kernel';

/** The reply of a model in a turn. */
export interface Reply {
  readonly content: string;
  readonly toolCalls: readonly unknown[];
}

export const NO_REPLY: Reply = { content: '', toolCalls: [] };

/** Assembles a reply from the chunks of a stream. */
export interface ReplyCollector {
  addText(text: string): void;
  /** Pieces of tool calls, in the form of the chat-completions convention. */
  addToolCalls(deltas: readonly unknown[]): void;
  /** The reply so far. */
  read(): Reply;
}

interface Call {
  readonly fields: Record<string, unknown>;
  readonly names: string[];
  readonly argumentTexts: string[];
}

/** How many tool calls of a reply are stored. */
export const TOOL_CALLS_MAX = 256;

export function createReplyCollector(): ReplyCollector {
  const texts: string[] = [];
  const calls = new Map<number, Call>();

  function addCall(delta: unknown, position: number): void {
    const { index, function: piece, ...fields } = asRecord(delta);
    const at = numberOf(index) ?? position;
    const call = calls.get(at) ?? { fields: {}, names: [], argumentTexts: [] };
    if (!calls.has(at) && calls.size === TOOL_CALLS_MAX) return;
    calls.set(at, call);
    // The id and the type come with the first chunk of a call; some upstreams repeat them as null.
    for (const [name, value] of Object.entries(fields)) {
      if (value !== null && value !== undefined) call.fields[name] = value;
    }
    const { name, arguments: argumentText } = asRecord(piece);
    if (typeof name === 'string') call.names.push(name);
    if (typeof argumentText === 'string') call.argumentTexts.push(argumentText);
  }

  return {
    addText: (text) => void texts.push(text),
    addToolCalls: (deltas) => deltas.forEach(addCall),
    read: () => ({
      content: texts.join(''),
      toolCalls: [...calls.entries()]
        .toSorted(([one], [other]) => one - other)
        .map(([, { fields, names, argumentTexts }]) => ({
          ...fields,
          function: { name: names.join(''), arguments: argumentTexts.join('') },
        })),
    }),
  };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
