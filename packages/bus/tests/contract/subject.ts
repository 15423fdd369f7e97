/** What a contract suite is run on: one adapter, made anew for each test. */
export interface Subject<Port> {
  readonly port: Port;
  /** Moves a clock that is injected; where time is real the test waits for its effect instead. */
  readonly passTime?: (milliseconds: number) => void;
  close(): Promise<void>;
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
