import {
  answerOfChat,
  createChunkReader,
  originIn,
  type Dialect,
  type DialectRequest,
  type DialectStream,
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

/** Writes a stream in the form of a dialect. */
interface StreamWriter {
  readonly stream: DialectStream;
  readonly ignored: readonly string[];
  /** The text of some chunks. */
  write(chunks: readonly unknown[]): string;
}

/** Writes the chunks of a stream, or passes on what an upstream of the same API sent. */
export function createStreamWriter<Request extends DialectRequest>(
  dialect: Dialect<Request>,
  request: Request,
  { head, first }: { readonly head: StreamHead; readonly first: unknown },
): StreamWriter {
  const { passing } = dialect;
  const readChunk = createChunkReader();
  const textOf = (chunk: unknown, stream: DialectStream): string => {
    // A chunk that has only this text.
    if (typeof chunk === 'string') return stream.write({ type: 'text', text: chunk });
    let text = '';
    for (const event of readChunk(chunk)) text += stream.write(event);
    return text;
  };
  if (passing === undefined || passedIn(passing.api, first) === undefined) {
    const stream = dialect.writeStream(request, head);
    const write = (chunks: readonly unknown[]) =>
      chunks.map((chunk) => textOf(chunk, stream)).join('');
    return { stream, ignored: request.ignored, write };
  }
  const stream = passing.passStream(request);
  const passedText = (chunk: unknown): string => {
    const event = passedIn(passing.api, chunk);
    return event === undefined ? textOf(chunk, stream) : stream.pass(event);
  };
  const write = (chunks: readonly unknown[]) => chunks.map(passedText).join('');
  return { stream, ignored: request.ignoredInPassing ?? [], write };
}

const passedIn = (api: string, chunk: unknown) =>
  typeof chunk === 'object' && chunk !== null ? originIn(api, chunk) : undefined;
