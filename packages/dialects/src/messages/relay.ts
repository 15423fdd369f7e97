import type { TurnEvent, TurnUsage } from '@model-gateway/contracts';
import type { RelayWriter, StreamFailure } from '../dialect.ts';
import { countField, fieldOf } from '../turn/fields.ts';
import { messagesUsage, NO_USAGE, streamedUsage } from './answer.ts';
import { failed, PING } from './stream.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The message of an upstream that speaks this API, with what copies of it leave out. */
export const relayMessage = (message: Fields, usage: TurnUsage | undefined): Fields => ({
  type: 'message',
  role: 'assistant',
  stop_sequence: null,
  ...message,
  ...(hasUsage(message) ? {} : { usage: messagesUsage(usage) }),
});

/** Relays the events of such an upstream. The last ones wait for the usage, which is estimated if there is none. */
export class RelayedMessagesStream implements RelayWriter {
  readonly #ending: Fields[] = [];
  #usage = NO_USAGE;

  begin(): string {
    return '';
  }

  alive(): string {
    return PING;
  }

  write(event: TurnEvent): string {
    if (event.type === 'usage') this.#usage = event.usage;
    return '';
  }

  relay(event: Fields): string {
    switch (event['type']) {
      case 'message_start':
        return textOf(withMessage(event));
      case 'message_delta':
      case 'message_stop':
        this.#ending.push(event);
        return '';
      default:
        return textOf(event);
    }
  }

  end(): string {
    return this.#ending.map((event) => textOf(this.#withUsage(event))).join('');
  }

  fail(failure: StreamFailure): string {
    return failed(failure);
  }

  #withUsage(event: Fields): Fields {
    if (event['type'] !== 'message_delta' || hasUsage(event)) return event;
    return { ...event, usage: streamedUsage(this.#usage) };
  }
}

const hasUsage = (value: Fields): boolean =>
  countField(fieldOf(value, 'usage'), 'output_tokens') !== undefined;

/** Clients add to what is in the first event. */
function withMessage(event: Fields): Fields {
  const message = event['message'];
  const given = typeof message === 'object' && message !== null ? message : {};
  return { ...event, message: { content: [], ...relayMessage({ ...given }, NO_USAGE) } };
}

const textOf = (event: Fields): string =>
  `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;
