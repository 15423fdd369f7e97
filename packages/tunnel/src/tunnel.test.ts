import { buffer, text } from 'node:stream/consumers';
import { setImmediate as tick } from 'node:timers/promises';
import * as fc from 'fast-check';
import { encodeCredit, encodeFrame, encodeHead, TunnelError } from './frame.ts';
import { createTunnel, type Exchange, type Tunnel } from './tunnel.ts';

type Serve = (head: unknown, exchange: Exchange) => void;

/** Two ends of a connection that delivers in order, asynchronously. */
function connect(serve: Serve): { readonly opener: Tunnel; readonly sent: () => number } {
  let sent = 0;
  const deliver = (to: () => Tunnel) => (frame: Buffer, onSent: () => void) => {
    sent += frame.length;
    setImmediate(() => {
      to().receive(frame);
      onSent();
    });
  };
  const opener: Tunnel = createTunnel({ send: deliver(() => responder) });
  const responder: Tunnel = createTunnel({ send: deliver(() => opener), onOpen: serve });
  return { opener, sent: () => sent };
}

const echo: Serve = (head, exchange) => {
  exchange.respond({ echoed: head });
  exchange.body.pipe(exchange.body);
};

test('a request and its response are transferred, heads and bodies', async () => {
  const { opener } = connect(echo);
  const exchange = opener.open({ path: '/x' });
  exchange.body.write('hello ');
  exchange.body.end('world');
  expect(await exchange.head).toEqual({ echoed: { path: '/x' } });
  expect(await text(exchange.body)).toBe('hello world');
  await tick();
  expect(opener.size).toBe(0);
});

test('every body arrives byte for byte, in any pieces and with many exchanges at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.uint8Array({ maxLength: 200_000 }), { maxLength: 6 }), {
        minLength: 1,
        maxLength: 8,
      }),
      async (bodies) => {
        const { opener } = connect(echo);
        await Promise.all(
          bodies.map(async (pieces) => {
            const { body } = opener.open({});
            const received = buffer(body);
            for (const piece of pieces) body.write(piece);
            body.end();
            expect((await received).equals(Buffer.concat(pieces))).toBe(true);
          }),
        );
      },
    ),
    { numRuns: 40 },
  );
});

test('a reader that does not read stops only its own sender, at the window', async () => {
  const written: number[] = [];
  const { opener } = connect((_head, exchange) => {
    exchange.respond({});
    const { body } = exchange;
    const index = written.push(0) - 1;
    const send = (): void => {
      while (body.writableLength < 64 * 1024 && !body.destroyed) {
        written[index] = (written[index] ?? 0) + 32 * 1024;
        if (!body.write(Buffer.alloc(32 * 1024))) return;
      }
    };
    body.on('drain', send);
    send();
  });
  const slow = opener.open({});
  const quick = opener.open({});
  let received = 0;
  for await (const chunk of quick.body) {
    received += (chunk as Buffer).length;
    if (received > 4 * 1024 * 1024) break;
  }
  const writtenToSlow = written[0];
  expect(writtenToSlow).toBeLessThan(512 * 1024);
  slow.body.destroy();
  quick.body.destroy();
});

test('destroying an exchange ends it on the other side, with the reason', async () => {
  const ended = new Promise<string>((resolve) => {
    const { opener } = connect((_head, { body }) => {
      body.on('error', (error) => resolve(error.message));
    });
    const { body } = opener.open({});
    setImmediate(() => body.destroy(new Error('the reader has stopped')));
  });
  expect(await ended).toBe('the reader has stopped');
});

test('an exchange that is refused has no head', async () => {
  const { opener } = connect((_head, { body }) => body.destroy(new Error('no such model')));
  const exchange = opener.open({});
  await expect(exchange.head).rejects.toThrow('no such model');
});

test('a response that ends before its head has none', async () => {
  const { opener } = connect((_head, { body }) => body.end());
  const exchange = opener.open({});
  await expect(exchange.head).rejects.toThrow('the exchange ended without a response');
  expect(opener.size).toBe(0);
});

test('when the connection is closed every exchange fails', async () => {
  const { opener } = connect(() => undefined);
  const exchanges = [opener.open({}), opener.open({})];
  opener.close('the node left');
  for (const { head } of exchanges) await expect(head).rejects.toThrow('the node left');
  expect(opener.size).toBe(0);
});

test('more exchanges than allowed are refused', async () => {
  const opener = createTunnel({ send: () => undefined, exchangesMax: 1 });
  opener.open({});
  expect(() => opener.open({})).toThrow('too many exchanges at once');
});

describe('a peer that violates the protocol', () => {
  const violations: readonly (readonly [string, readonly Buffer[]])[] = [
    ['sends nothing', [Buffer.alloc(0)]],
    ['sends less than a frame', [Buffer.from([3, 0, 0])]],
    ['names a kind that does not exist', [Buffer.from([9, 0, 0, 0, 1])]],
    ['opens an exchange on the side that opens them', [encodeHead('open', 2, {})]],
    ['names an exchange that was never opened', [encodeFrame('end', 7)]],
    ['sends a head that is not JSON', [encodeFrame('head', 1, Buffer.from('{'))]],
    ['sends two heads', [encodeHead('head', 1, {}), encodeHead('head', 1, {})]],
    ['sends a frame that is too large', [encodeFrame('data', 1, Buffer.alloc(64 * 1024 + 1))]],
    [
      'sends data after its end',
      [encodeHead('head', 1, {}), encodeFrame('end', 1), encodeFrame('data', 1, Buffer.alloc(1))],
    ],
    ['sends a malformed credit', [encodeFrame('credit', 1, Buffer.alloc(3))]],
    ['grants too much credit', [encodeCredit(1, 2 ** 31)]],
    [
      'sends more than it has credit for',
      Array.from({ length: 5 }, () => encodeFrame('data', 1, Buffer.alloc(64 * 1024))),
    ],
  ];
  test.each(violations)('%s', (_what, frames) => {
    const opener = createTunnel({ send: () => undefined });
    opener.open({});
    expect(() => {
      for (const frame of frames) opener.receive(frame);
    }).toThrow(TunnelError);
  });
});

test('random bytes are either a protocol violation or harmless', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (messages) => {
      const tunnel = createTunnel({ send: () => undefined, onOpen: () => undefined });
      try {
        for (const message of messages) tunnel.receive(Buffer.from(message));
      } catch (error) {
        if (!(error instanceof TunnelError)) throw error;
      }
      tunnel.close('done');
    }),
  );
});
