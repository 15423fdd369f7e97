/** A failed call to the memory service, with a message for users; the cause is for logs. */
export class MemoryFailure extends Error {
  override readonly name = 'MemoryFailure';
  readonly kind: keyof typeof MESSAGES;

  constructor(kind: keyof typeof MESSAGES, cause?: unknown) {
    super(MESSAGES[kind], { cause });
    this.kind = kind;
  }
}

const MESSAGES = {
  unavailable: 'the memory service is unavailable',
  unreachable: 'the memory service could not be reached',
  timeout: 'the memory service did not answer in time',
  refused: 'the memory service answered with an error',
  invalid: 'the memory service disconnected or sent an invalid response',
};
