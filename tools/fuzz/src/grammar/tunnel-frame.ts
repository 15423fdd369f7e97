import * as fc from 'fast-check';
import { mutated, textOf } from './hostile.ts';
import { treeOf } from './json-tree.ts';
import { onTheWire, type WireText } from './wire-text.ts';

/** The kinds of a frame on the wire, in the order of their numbers. */
export const FRAME_KINDS = { open: 1, head: 2, data: 3, end: 4, reset: 5, credit: 6 } as const;

/** A frame of the HTTP tunnel: a kind, the number of an exchange and a payload. */
export function encodeTunnelFrame(kind: number, exchangeId: number, payload: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = kind;
  prefix.writeUInt32BE(exchangeId >>> 0, 1);
  return Buffer.concat([prefix, payload]);
}

const headers = fc.constantFrom(
  [['content-type', 'application/json']],
  [['content-type', 'text/event-stream']],
  [
    ['content-length', '-1'],
    ['transfer-encoding', 'chunked'],
  ],
  [['x-bad\r\nx-injected', '1']],
  [['set-cookie', 'a\u0000b']],
);

/** The head of a response, as JSON. */
export const responseHead: fc.Arbitrary<WireText> = onTheWire(
  textOf(
    mutated(fc.record({ status: fc.constantFrom(200, 204, 404, 500, 599), headers }).map(treeOf)),
  ),
);

/** Any frame, of any exchange. */
export const tunnelFrame: fc.Arbitrary<WireText> = fc
  .tuple(fc.nat(8), fc.nat(5), fc.uint8Array({ maxLength: 64 }), fc.nat(70))
  .map(([kind, exchangeId, payload, length]) => {
    const frame = encodeTunnelFrame(kind, exchangeId, Buffer.from(payload));
    return { base64: frame.subarray(0, length).toString('base64') };
  });
