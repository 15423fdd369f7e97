/** What a contract suite is run on: one adapter, made anew for each test. */
export interface Subject<Port> {
  readonly port: Port;
  /** Moves a clock that is injected; where time is real the test waits for its effect instead. */
  readonly passTime?: (milliseconds: number) => void;
  close(): Promise<void>;
}

const SHORT_MS = 100;

/**
 * Takes a step that has to be done before a short time is over, with a longer time until it is: a busy machine may
 * stand still for longer than any time that is fixed here. Returns the time it was done in.
 */
export async function beforeExpiry(step: (shortMs: number) => Promise<void>): Promise<number> {
  for (let shortMs = SHORT_MS; ; shortMs *= 2) {
    const begun = performance.now();
    await step(shortMs);
    if (performance.now() - begun < shortMs) return shortMs;
  }
}

export type MakeSubject<Port> = () => Promise<Subject<Port>>;

/** Runs a test on a fresh subject and closes it whatever happens. */
export function withSubject<Port>(
  make: MakeSubject<Port>,
  body: (port: Port, passTime: (milliseconds: number) => void) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const subject = await make();
    try {
      await body(subject.port, subject.passTime ?? (() => undefined));
    } finally {
      await subject.close();
    }
  };
}
