import type { AnswerPart, TurnEvent } from '@model-gateway/contracts';
import type {
  AnswerWriter,
  Dialect,
  DialectRequest,
  EventDialect,
  EventWriter,
  PassedWriter,
  StreamFailure,
  StreamHead,
} from '../dialect.ts';

/** A dialect that writes the events of a turn, and passes on what an upstream of its own API sent. */
export function eventDialect<Request extends DialectRequest>(
  dialect: EventDialect<Request>,
): Dialect<Request> & EventDialect<Request> {
  const { api, writeAnswer, passAnswer } = dialect;
  return {
    ...dialect,
    isFailureEnough: true,
    answer({ own, answer }, request) {
      if (own?.api !== api)
        return { body: writeAnswer(answer(), request), ignored: request.ignored };
      const body = passAnswer(own.value, request, answer().usage);
      return { body, ignored: request.ignoredInPassing ?? [] };
    },
    stream: (request) => new EventAnswerWriter(dialect, request),
  };
}

class EventAnswerWriter<Request extends DialectRequest> implements AnswerWriter {
  readonly #dialect: EventDialect<Request>;
  readonly #request: Request;
  readonly #written: EventWriter;
  #passed: PassedWriter | undefined;
  /** How many signs of life the client got. */
  #signs = 0;

  constructor(dialect: EventDialect<Request>, request: Request) {
    this.#dialect = dialect;
    this.#request = request;
    this.#written = dialect.writeStream(request);
  }

  get ignored(): readonly string[] {
    const { ignored, ignoredInPassing = [] } = this.#request;
    return this.#passed === undefined ? ignored : ignoredInPassing;
  }

  get #writer(): EventWriter {
    return this.#passed ?? this.#written;
  }

  begin(head: StreamHead, first: AnswerPart | undefined): string {
    if (first?.own?.api === this.#dialect.api)
      this.#passed = this.#dialect.passStream(this.#request, this.#signs);
    return this.#writer.begin(head);
  }

  alive(): string {
    this.#signs += 1;
    return this.#writer.alive();
  }

  write({ own, events }: AnswerPart): string {
    if (this.#passed !== undefined && own?.api === this.#dialect.api)
      return this.#passed.pass(own.value);
    let text = '';
    for (const event of events) if (!isEmpty(event)) text += this.#writer.write(event);
    return text;
  }

  answer(): object | undefined {
    return this.#writer.answer?.();
  }

  end(answer?: object): string {
    return this.#writer.end(answer);
  }

  fail(failure: StreamFailure): string {
    return this.#writer.fail(failure);
  }
}

/** A step that only tells a client of chat completions that its answer has begun. */
const isEmpty = (event: TurnEvent): boolean =>
  (event.type === 'text' && event.text === '') ||
  (event.type === 'reasoning' &&
    event.text === '' &&
    event.signature === undefined &&
    event.encrypted === undefined);
