import type { Duplex } from 'node:stream';
import { createExchangeBody, type ExchangeBody } from './exchange-body.ts';
import {
  decodeCredit,
  decodeFrame,
  decodeHead,
  encodeFrame,
  encodeHead,
  TunnelError,
  type Frame,
} from './frame.ts';
import { createSendQueue, type Send } from './send-queue.ts';

/** One request and its response. */
export interface Exchange {
  /** Writes go to the peer, reads come from it. Destroying the stream ends the exchange on both sides. */
  readonly body: Duplex;
  /** The head of the response, for the opener; rejects when the exchange ends before it arrives. */
  readonly head: Promise<unknown>;
  /** Sends the head of the response, once. */
  respond(head: unknown): void;
}

/** Many exchanges over one connection. */
export interface Tunnel {
  open(head: unknown): Exchange;
  /** Processes a message. Throws a TunnelError when the peer violated the protocol; the connection must then be closed. */
  receive(message: Buffer): void;
  /** How many exchanges are open. */
  readonly size: number;
  /** The connection has closed: every exchange fails. */
  close(reason: string): void;
}

export interface TunnelOptions {
  readonly send: Send;
  /** Handles an exchange that the peer opens; without it the peer may open none. */
  readonly onOpen?: (head: unknown, exchange: Exchange) => void;
  readonly exchangesMax?: number;
}

const EXCHANGES_MAX = 1_024;
const EXCHANGE_ID_MAX = 2 ** 32 - 1;

interface Entry extends ExchangeBody {
  readonly onHead: (head: unknown) => void;
}

export function createTunnel(options: TunnelOptions): Tunnel {
  const { onOpen, exchangesMax = EXCHANGES_MAX } = options;
  const sendQueue = createSendQueue(options.send);
  const entries = new Map<number, Entry>();
  let lastId = 0;

  function begin(exchangeId: number, expectsHead: boolean): Exchange {
    const body = createExchangeBody(exchangeId, sendQueue);
    let resolveHead: ((head: unknown) => void) | undefined;
    const head = new Promise<unknown>((resolve, reject) => {
      resolveHead = resolve;
      body.stream.once('close', () => {
        entries.delete(exchangeId);
        reject(body.stream.errored ?? withoutHead());
      });
    });
    // A caller that does not await the head sees the error on the body.
    head.catch(() => undefined);
    body.stream.on('error', () => undefined);
    entries.set(exchangeId, {
      ...body,
      onHead(received) {
        if (resolveHead === undefined) throw new TunnelError('second head in one exchange');
        resolveHead(received);
        resolveHead = undefined;
      },
      onEnd() {
        if (expectsHead && resolveHead !== undefined) body.stream.destroy(withoutHead());
        else body.onEnd();
      },
    });
    return {
      body: body.stream,
      head,
      respond: (sent) => sendQueue.send(encodeHead('head', exchangeId, sent)),
    };
  }

  function accept(frame: Frame): void {
    const { exchangeId } = frame;
    if (onOpen === undefined || exchangeId <= lastId)
      throw new TunnelError('the peer may not open this exchange');
    lastId = exchangeId;
    if (entries.size >= exchangesMax) {
      sendQueue.send(encodeFrame('reset', exchangeId, Buffer.from('too many exchanges at once')));
    } else {
      onOpen(decodeHead(frame), begin(exchangeId, false));
    }
  }

  return {
    get size() {
      return entries.size;
    },
    open(head) {
      if (entries.size >= exchangesMax) throw new Error('too many exchanges at once');
      if (lastId >= EXCHANGE_ID_MAX) throw new Error('the connection has no exchange ids left');
      lastId += 1;
      // Encoded first, so that no exchange begins when the head is too large.
      const opening = encodeHead('open', lastId, head);
      const exchange = begin(lastId, true);
      sendQueue.send(opening);
      return exchange;
    },
    receive(message) {
      const frame = decodeFrame(message);
      if (frame.kind === 'open') return accept(frame);
      if (frame.exchangeId > lastId || frame.exchangeId === 0)
        throw new TunnelError('unknown exchange');
      // Frames for an exchange that has ended were sent before the peer knew.
      const entry = entries.get(frame.exchangeId);
      if (entry !== undefined) deliver(entry, frame);
    },
    close(reason) {
      for (const { stream } of entries.values()) stream.destroy(new Error(reason));
    },
  };
}

const withoutHead = (): Error => new Error('the exchange ended without a response');

function deliver(entry: Entry, frame: Frame): void {
  switch (frame.kind) {
    case 'head':
      return entry.onHead(decodeHead(frame));
    case 'data':
      return entry.onData(frame.payload);
    case 'end':
      return entry.onEnd();
    case 'reset':
      return entry.onReset(frame.payload.toString('utf8'));
    case 'credit':
      return entry.onCredit(decodeCredit(frame));
    case 'open':
      throw new TunnelError('an exchange cannot be opened twice');
  }
}
