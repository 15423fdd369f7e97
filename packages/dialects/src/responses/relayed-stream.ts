import type { TurnEvent, TurnUsage } from '@model-gateway/contracts';
import { numberOf } from '@model-gateway/kernel';
import type { RelayWriter, StreamFailure } from '../dialect.ts';
import { fieldOf, listField, textField } from '../turn/fields.ts';
import type { Item } from './body.ts';
import { streamError } from './errors.ts';
import { itemIdIn } from './item-id.ts';
import type { ResponsesRequest } from './request.ts';
import { responseObject, responseUsage } from './response-object.ts';
import { DONE } from '../event-marks.ts';

/** The last events of a stream, one of which it has. */
const ENDINGS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** An event about a part of an item. */
const PART_EVENT = /^response\.(?:content_part|output_text|refusal|reasoning_text)\./;

/** The response of an upstream that speaks this API, as a response of the gateway. */
export function relayResponse(
  response: Item,
  request: ResponsesRequest,
  usage: TurnUsage | undefined,
): Item {
  return withUsage(ownResponse(response, request), usage);
}

/** Relays the events of such an upstream. The last one waits until the response is stored. */
export class RelayedResponsesStream implements RelayWriter {
  readonly #request: ResponsesRequest;
  /** The items that are complete, by their index. */
  readonly #output = new Map<unknown, unknown>();
  /** The indexes of items that came without. */
  readonly #places = new Map<string, number>();
  #response: Item | undefined;
  #ending: Item | undefined;
  #hasError = false;
  #sequence = 0;
  /** How many events more the client has than the upstream has sent. */
  #ahead = 0;
  #usage: TurnUsage | undefined;

  constructor(request: ResponsesRequest, signs: number) {
    this.#request = request;
    // The first sign of life is the beginning of a response: two events.
    if (signs > 0) this.#ahead = signs + 1;
    this.#sequence = this.#ahead;
  }

  begin(): string {
    return '';
  }

  alive(): string {
    const response = { ...this.#known(), output: [...this.#output.values()] };
    this.#ahead += 1;
    const sequence_number = this.#sequence++;
    return textOf({ type: 'response.in_progress', response, sequence_number });
  }

  write(event: TurnEvent): string {
    if (event.type === 'usage') this.#usage = event.usage;
    return '';
  }

  relay(event: Item): string {
    if (event['type'] === 'response.created' && this.#ahead > 0) {
      this.#ahead -= 1;
      return '';
    }
    const own = this.#renumbered(ownEvent(this.#placed(event), this.#request));
    const response = fieldOf(own, 'response');
    if (isItem(response)) this.#response = response;
    this.#keepItem(own);
    if (ENDINGS.has(own['type'])) {
      this.#ending = own;
      return '';
    }
    if (own['type'] === 'error') this.#hasError = true;
    const sequence = numberOf(own['sequence_number']);
    if (sequence !== undefined) this.#sequence = sequence + 1;
    return textOf(own);
  }

  answer(): Item {
    return withUsage(this.#known(), this.#usage);
  }

  end(response: object = this.answer()): string {
    const ending = this.#ending ?? { type: 'response.completed', sequence_number: this.#sequence };
    const end = ending['type'] === 'response.failed' ? '' : DONE;
    return textOf({ ...ending, response }) + end;
  }

  fail(failure: StreamFailure): string {
    if (this.#ending !== undefined) return textOf(this.#ending);
    const error = streamError(failure);
    const events: Item[] = [];
    if (!this.#hasError) events.push({ type: 'error', ...error, param: null });
    const response = { ...this.#known(), status: 'failed', error };
    events.push({ type: 'response.failed', response });
    return events.map((event) => textOf({ ...event, sequence_number: this.#sequence++ })).join('');
  }

  #renumbered(event: Item): Item {
    const sequence = numberOf(event['sequence_number']);
    if (sequence === undefined) return { ...event, sequence_number: this.#sequence };
    return this.#ahead === 0 ? event : { ...event, sequence_number: sequence + this.#ahead };
  }

  /** Clients tell the items and parts of a response apart by their index, which llama.cpp leaves out. */
  #placed(event: Item): Item {
    const { type, item, item_id: given, output_index: index } = event;
    const id = textField(item, 'id') ?? given;
    if (index !== undefined || typeof id !== 'string') return event;
    const output_index = this.#places.get(id) ?? this.#places.size;
    this.#places.set(id, output_index);
    return PART_EVENT.test(String(type))
      ? { content_index: 0, ...event, output_index }
      : { ...event, output_index };
  }

  #keepItem({ type, output_index: index, item }: Item): void {
    if (type === 'response.output_item.done') this.#output.set(index, item);
  }

  #known(): Item {
    const { model } = this.#request;
    return (
      this.#response ?? responseObject(this.#request, { model, status: 'in_progress', output: [] })
    );
  }
}

const ownResponse = (response: Item, request: ResponsesRequest): Item => ({
  ...response,
  id: request.id,
  previous_response_id: request.body.previous_response_id ?? null,
  store: request.isStored,
  output: listField(response, 'output').map((item) => ownItem(item, request)),
});

function withUsage(response: Item, usage: TurnUsage | undefined): Item {
  const isReported = (response['usage'] ?? null) !== null;
  return isReported || usage === undefined
    ? response
    : { ...response, usage: responseUsage(usage) };
}

function ownEvent(event: Item, request: ResponsesRequest): Item {
  const { response, item, item_id: itemId } = event;
  if (isItem(response)) return { ...event, response: ownResponse(response, request) };
  if (!request.isStored) return event;
  if (item !== undefined) return { ...event, item: ownItem(item, request) };
  return typeof itemId === 'string' ? { ...event, item_id: itemIdIn(request.id, itemId) } : event;
}

/** Only stored items can be referred to later, so that others keep their ids. */
function ownItem(item: unknown, { id: responseId, isStored }: ResponsesRequest): unknown {
  const id = textField(item, 'id');
  if (!isStored || id === undefined || !isItem(item)) return item;
  return { ...item, id: itemIdIn(responseId, id) };
}

const textOf = (event: Item): string =>
  `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;

const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
