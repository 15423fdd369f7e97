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
import { createOutlet, type Send } from './outlet.ts';

/** One request and its answer. */
export interface Exchange {
  /** What is written goes to the peer, what is read came from it. Destroying it ends the exchange on both sides. */
  readonly body: Duplex;
  /** The head of the answer, for whoever opened the exchange; rejects when the exchange ends before. */
  readonly head: Promise<unknown>;
  /** Sends the head of the answer, once. */
  answer(head: unknown): void;
}

/** Many exchanges over one connection. */
export interface Tunnel {
  open(head: unknown): Exchange;
  /** Takes what arrived. Throws a TunnelError when the peer broke the rules: then the connection has to be closed. */
  receive(message: Buffer): void;
  /** How many exchanges are under way. */
  readonly size: number;
  /** The connection is gone: every exchange fails. */
  close(reason: string): void;
}

export interface TunnelOptions {
  readonly send: Send;
  /** Takes an exchange that the peer opens; where it is missing, the peer may open none. */
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
  const outlet = createOutlet(options.send);
  const entries = new Map<number, Entry>();
  let lastId = 0;

  function begin(exchangeId: number): Exchange {
    const body = createExchangeBody(exchangeId, outlet);
    let resolveHead: ((head: unknown) => void) | undefined;
    const head = new Promise<unknown>((resolve, reject) => {
      resolveHead = resolve;
      body.stream.once('close', () => {
        entries.delete(exchangeId);
        reject(body.stream.errored ?? new Error('the exchange ended without an answer'));
      });
    });
    // Whoever does not wait for the head learns from the body what happened.
    head.catch(() => undefined);
    body.stream.on('error', () => undefined);
    entries.set(exchangeId, {
      ...body,
      onHead(received) {
        if (resolveHead === undefined) throw new TunnelError('an exchange has two heads');
        resolveHead(received);
        resolveHead = undefined;
      },
    });
    return {
      body: body.stream,
      head,
      answer: (sent) => outlet.send(encodeHead('head', exchangeId, sent)),
    };
  }

  function accept(frame: Frame): void {
    const { exchangeId } = frame;
    if (onOpen === undefined || exchangeId <= lastId)
      throw new TunnelError('an exchange cannot be opened');
    lastId = exchangeId;
    if (entries.size >= exchangesMax) {
      outlet.send(encodeFrame('reset', exchangeId, Buffer.from('too many exchanges at once')));
    } else {
      onOpen(decodeHead(frame), begin(exchangeId));
    }
  }

  return {
    get size() {
      return entries.size;
    },
    open(head) {
      if (entries.size >= exchangesMax) throw new Error('too many exchanges at once');
      if (lastId >= EXCHANGE_ID_MAX) throw new Error('the connection is worn out');
      lastId += 1;
      // Not begun when the head cannot be sent.
      const opening = encodeHead('open', lastId, head);
      const exchange = begin(lastId);
      outlet.send(opening);
      return exchange;
    },
    receive(message) {
      const frame = decodeFrame(message);
      if (frame.kind === 'open') return accept(frame);
      if (frame.exchangeId > lastId || frame.exchangeId === 0)
        throw new TunnelError('an exchange was never opened');
      // What comes for one that is over was under way when it ended.
      const entry = entries.get(frame.exchangeId);
      if (entry !== undefined) deliver(entry, frame);
    },
    close(reason) {
      for (const { stream } of entries.values()) stream.destroy(new Error(reason));
    },
  };
}

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
