import {
  answerOfChat,
  createChunkReader,
  originIn,
  type Dialect,
  type DialectRequest,
  type DialectStream,
  type PassedStream,
  type StreamHead,
} from '@model-gateway/dialects';

/** An answer in the form of a dialect. */
interface WrittenAnswer {
  readonly body: object;
  readonly ignored: readonly string[];
}

/** Writes a completion, or passes on what an upstream of the same API answered. */
export function writtenAnswer<Request extends DialectRequest>(
  dialect: Dialect<Request>,
  request: Request,
  completion: object,
): WrittenAnswer {
  const { passing } = dialect;
  const answer = answerOfChat(completion);
  const passed = passing && originIn(passing.api, completion);
  if (passing === undefined || passed === undefined) {
    return { body: dialect.writeAnswer(answer, request), ignored: request.ignored };
  }
  const body = passing.passAnswer(passed, request, answer.usage);
  return { body, ignored: request.ignoredInPassing ?? [] };
}

/** Writes a stream in the form of a dialect. Each function but `begin` returns text for the client. */
interface StreamWriter {
  /** What was left out; known when the stream has begun. */
  readonly ignored: readonly string[];
  /** What is written from now on: an upstream of the same API is passed on. */
  readonly stream: DialectStream;
  /** Looks at the first chunk, which is written too. */
  begin(head: StreamHead, first: unknown): string;
  /** Tells the client that its answer is being made; also before the beginning. */
  alive(): string;
  /** The text of some chunks. */
  write(chunks: readonly unknown[]): string;
}

/** Writes the chunks of a stream, or passes on what an upstream of the same API sent. */
export function createStreamWriter<Request extends DialectRequest>(
  dialect: Dialect<Request>,
  request: Request,
): StreamWriter {
  const { passing } = dialect;
  const readChunk = createChunkReader();
  const written = dialect.writeStream(request);
  let passed: PassedStream | undefined;
  let signs = 0;

  function textOf(chunk: unknown): string {
    const event = passed && passing && passedIn(passing.api, chunk);
    if (passed !== undefined && event !== undefined) return passed.pass(event);
    const stream = passed ?? written;
    // A chunk that has only this text.
    if (typeof chunk === 'string') return stream.write({ type: 'text', text: chunk });
    let text = '';
    for (const part of readChunk(chunk)) text += stream.write(part);
    return text;
  }

  return {
    get ignored() {
      return (passed === undefined ? request.ignored : request.ignoredInPassing) ?? [];
    },
    get stream() {
      return passed ?? written;
    },
    begin(head, first) {
      const isPassed = passing !== undefined && passedIn(passing.api, first) !== undefined;
      if (isPassed) passed = passing.passStream(request, signs);
      return (passed ?? written).begin(head);
    },
    alive() {
      signs += 1;
      return (passed ?? written).alive();
    },
    write: (chunks) => chunks.map(textOf).join(''),
  };
}

const passedIn = (api: string, chunk: unknown) =>
  typeof chunk === 'object' && chunk !== null ? originIn(api, chunk) : undefined;
