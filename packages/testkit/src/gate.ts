import { createDeferred } from '@model-gateway/kernel';

/** Lets a test block something until it calls `open`. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** A closed gate. */
export function createGate(): Gate {
  const { promise: opened, resolve: open } = createDeferred();
  return { opened, open };
}
