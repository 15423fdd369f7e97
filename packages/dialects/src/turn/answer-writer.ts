import type { AnswerPart, TurnEvent } from '@model-gateway/contracts';
import type {
  AnswerWriter,
  Dialect,
  DialectRequest,
  EventDialect,
  EventWriter,
  RelayWriter,
  StreamFailure,
  StreamHead,
} from '../dialect.ts';

/** A dialect that writes the events of a turn, and relays what an upstream of its own API sent. */
export function eventDialect<Request extends DialectRequest>(
  dialect: EventDialect<Request>,
): Dialect<Request> & EventDialect<Request> {
  const { api, writeAnswer, relayAnswer } = dialect;
  return {
    ...dialect,
    isFailureEnough: true,
    answer({ own, answer }, request) {
      if (own?.api !== api)
        return { body: writeAnswer(answer(), request), ignored: request.ignored };
      const body = relayAnswer(own.value, request, answer().usage);
      return { body, ignored: request.ignoredInRelay ?? [] };
    },
    stream: (request) => new EventAnswerWriter(dialect, request),
  };
}

class EventAnswerWriter<Request extends DialectRequest> implements AnswerWriter {
  readonly #dialect: EventDialect<Request>;
  readonly #request: Request;
  readonly #written: EventWriter;
  #relayed: RelayWriter | undefined;
  /** How many signs of life the client got. */
  #signs = 0;

  constructor(dialect: EventDialect<Request>, request: Request) {
    this.#dialect = dialect;
    this.#request = request;
    this.#written = dialect.writeStream(request);
  }

  get ignored(): readonly string[] {
    const { ignored, ignoredInRelay = [] } = this.#request;
    return this.#relayed === undefined ? ignored : ignoredInRelay;
  }

  get #writer(): EventWriter {
    return this.#relayed ?? this.#written;
  }

  begin(head: StreamHead, first: AnswerPart | undefined): string {
    if (first?.own?.api === this.#dialect.api)
      this.#relayed = this.#dialect.relayStream(this.#request, this.#signs);
    return this.#writer.begin(head);
  }

  alive(): string {
    this.#signs += 1;
    return this.#writer.alive();
  }

  write({ own, events }: AnswerPart): string {
    if (this.#relayed !== undefined && own?.api === this.#dialect.api)
      return this.#relayed.relay(own.value);
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
