import type { AnswerPart, TurnEvent } from '@model-gateway/contracts';
import type {
  Dialect,
  DialectRequest,
  DialectStream,
  PassedStream,
  StreamHead,
} from '@model-gateway/dialects';
import type { ChatAnswer } from '@model-gateway/inference';

/** An answer in the form of a dialect. */
interface WrittenAnswer {
  readonly body: object;
  readonly ignored: readonly string[];
}

/** Writes an answer, or passes on what an upstream of the same API answered. */
export function writtenAnswer<Request extends DialectRequest>(
  dialect: Dialect<Request>,
  request: Request,
  { own, answer }: Pick<ChatAnswer, 'own' | 'answer'>,
): WrittenAnswer {
  const { passing } = dialect;
  if (passing === undefined || own?.api !== passing.api) {
    return { body: dialect.writeAnswer(answer(), request), ignored: request.ignored };
  }
  const body = passing.passAnswer(own.value, request, answer().usage);
  return { body, ignored: request.ignoredInPassing ?? [] };
}

/** Writes a stream in the form of a dialect. Each function but `begin` returns text for the client. */
interface StreamWriter {
  /** What was left out; known when the stream has begun. */
  readonly ignored: readonly string[];
  /** What is written from now on: an upstream of the same API is passed on. */
  readonly stream: DialectStream;
  /** Looks at the first part, which is written too. */
  begin(head: StreamHead, first: AnswerPart | undefined): string;
  /** Tells the client that its answer is being made; also before the beginning. */
  alive(): string;
  /** The text of some parts. */
  write(parts: readonly AnswerPart[]): string;
}

/** Writes the parts of a stream, or passes on what an upstream of the same API sent. */
export function createStreamWriter<Request extends DialectRequest>(
  dialect: Dialect<Request>,
  request: Request,
): StreamWriter {
  const { passing } = dialect;
  const written = dialect.writeStream(request);
  let passed: PassedStream | undefined;
  let signs = 0;

  const isOwn = (part: AnswerPart | undefined): boolean =>
    passing !== undefined && part?.own?.api === passing.api;

  function textOf(part: AnswerPart): string {
    if (passed !== undefined && part.own !== undefined && isOwn(part))
      return passed.pass(part.own.value);
    const stream = passed ?? written;
    let text = '';
    for (const event of part.events) if (!isEmpty(event)) text += stream.write(event);
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
      if (isOwn(first)) passed = passing?.passStream(request, signs);
      return (passed ?? written).begin(head);
    },
    alive() {
      signs += 1;
      return (passed ?? written).alive();
    },
    write: (parts) => parts.map(textOf).join(''),
  };
}

/** A step that only tells a client of chat completions that its answer has begun. */
const isEmpty = (event: TurnEvent): boolean =>
  (event.type === 'text' && event.text === '') ||
  (event.type === 'reasoning' &&
    event.text === '' &&
    event.signature === undefined &&
    event.encrypted === undefined);
