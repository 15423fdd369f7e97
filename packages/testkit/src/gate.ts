/** Lets a test block something until it calls `open`. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** A closed gate. */
export function createGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
