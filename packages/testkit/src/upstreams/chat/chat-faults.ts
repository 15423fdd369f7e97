import type { OperationName } from '@model-gateway/demo-model/answers';
import type { ChatFault } from '../faults/stream-faults.ts';

/** The operations that a fault can apply to; by default all but the list of models, which probes read. */
export type ChatOperation = OperationName | 'models';

/** A request can set its fault with this header, as `status:503` or `cut:3`. */
export const FAULT_HEADER = 'x-upstream-fault';

/** Or after this character in its model name, as `demo-chat@status:503`: a gateway forwards the name, but not the header. */
export const FAULT_MARK = '@';

const FAULTS: Readonly<Record<string, (value: number | undefined) => ChatFault>> = {
  status: (status = 500) => ({ kind: 'status', status }),
  'slow-start': (delayMs = 1_000) => ({ kind: 'slow-start', delayMs }),
  hang: () => ({ kind: 'hang' }),
  reset: () => ({ kind: 'reset' }),
  'garbage-json': () => ({ kind: 'garbage-json' }),
  'error-body': () => ({ kind: 'error-body' }),
  'huge-error': () => ({ kind: 'huge-error' }),
  'slow-chunks': (delayMs = 100) => ({ kind: 'slow-chunks', delayMs }),
  cut: (afterChunks = 3) => ({ kind: 'cut', afterChunks }),
  stall: (afterChunks = 3) => ({ kind: 'stall', afterChunks }),
  'garbage-line': (afterChunks = 1) => ({ kind: 'garbage-line', afterChunks }),
  'error-chunk': (afterChunks = 1) => ({ kind: 'error-chunk', afterChunks }),
  'no-done': () => ({ kind: 'no-done' }),
  'huge-chunk': () => ({ kind: 'huge-chunk' }),
  'split-utf8': () => ({ kind: 'split-utf8' }),
  'no-usage': () => ({ kind: 'no-usage' }),
  'no-tokens': () => ({ kind: 'no-tokens' }),
};

/** Parses a fault of the form `kind` or `kind:number`. */
export function parseChatFault(text: string): ChatFault | undefined {
  const [, kind = '', value] = /^([a-z0-9-]+)(?::(\d+))?$/.exec(text) ?? [];
  return FAULTS[kind]?.(value === undefined ? undefined : Number(value));
}
