import { tokenUsageSchema, type TokenUsage } from '@model-gateway/contracts';

/** What a stream has told so far: what it is billed by, and whether it came to its end. */
export interface StreamObserver {
  /** Looks at one chunk of the chat-completions convention. */
  observe(chunk: unknown): void;
  /** A piece of the answer whose chunk was not parsed. */
  addText(text: string): void;
  sawFinish(): void;
  readonly usage: TokenUsage | undefined;
  /** Everything that was generated, for an estimate where the upstream reports no usage. */
  readonly text: string;
  readonly isFinished: boolean;
}

export function createStreamObserver(): StreamObserver {
  const pieces: string[] = [];
  let usage: TokenUsage | undefined;
  let isFinished = false;

  return {
    observe(chunk) {
      usage = usageOf(chunk) ?? usage;
      for (const choice of choicesOf(chunk)) {
        pieces.push(textOfDelta(property(choice, 'delta')));
        if (typeof property(choice, 'finish_reason') === 'string') isFinished = true;
      }
    },
    addText(text) {
      pieces.push(text);
    },
    sawFinish() {
      isFinished = true;
    },
    get usage() {
      return usage;
    },
    get text() {
      return pieces.join('');
    },
    get isFinished() {
      return isFinished;
    },
  };
}

/** Whether a chunk carries usage and nothing else: clients that did not ask for it are spared it. */
export function isUsageOnly(chunk: unknown): boolean {
  return usageOf(chunk) !== undefined && choicesOf(chunk).length === 0;
}

/** The error that an upstream put into its stream, as text. */
export function errorOf(chunk: unknown): string | undefined {
  const error = property(chunk, 'error');
  if (error === undefined || error === null) return undefined;
  const message = typeof error === 'string' ? error : property(error, 'message');
  return typeof message === 'string' ? message : JSON.stringify(error);
}

function usageOf(chunk: unknown): TokenUsage | undefined {
  const usage = property(chunk, 'usage');
  if (usage === undefined || usage === null) return undefined;
  const parsed = tokenUsageSchema.safeParse(usage);
  return parsed.success ? parsed.data : undefined;
}

function choicesOf(chunk: unknown): readonly unknown[] {
  const choices = property(chunk, 'choices');
  return Array.isArray(choices) ? choices : [];
}

function textOfDelta(delta: unknown): string {
  const content = property(delta, 'content');
  const calls = property(delta, 'tool_calls');
  const written = typeof content === 'string' ? content : '';
  if (!Array.isArray(calls)) return written;
  return written + calls.map((call: unknown) => textOfCall(property(call, 'function'))).join('');
}

function textOfCall(call: unknown): string {
  const name = property(call, 'name');
  const text = property(call, 'arguments');
  return `${typeof name === 'string' ? name : ''}${typeof text === 'string' ? text : ''}`;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
