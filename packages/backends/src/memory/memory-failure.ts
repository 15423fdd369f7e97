/** How a call to the memory service failed, in words that users may read; the cause is for us alone. */
export class MemoryFailure extends Error {
  override readonly name = 'MemoryFailure';
  readonly kind: keyof typeof WORDS;

  constructor(kind: keyof typeof WORDS, cause?: unknown) {
    super(WORDS[kind], { cause });
    this.kind = kind;
  }
}

const WORDS = {
  away: 'the memory service is away',
  unreachable: 'the memory service could not be reached',
  late: 'the memory service did not answer in time',
  refused: 'the memory service answered with an error',
  broken: 'the memory service broke off or answered nonsense',
};
