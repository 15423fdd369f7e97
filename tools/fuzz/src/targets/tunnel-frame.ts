import * as fc from 'fast-check';
import type { WireText } from '../grammar/wire-text.ts';

/** The kinds of a frame on the wire, in the order of their numbers. */
export const FRAME_KINDS = { open: 1, head: 2, data: 3, end: 4, reset: 5, credit: 6 } as const;

/** A frame of the HTTP tunnel: a kind, the number of an exchange and a payload. */
export function encodeTunnelFrame(kind: number, exchangeId: number, payload: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = kind;
  prefix.writeUInt32BE(exchangeId >>> 0, 1);
  return Buffer.concat([prefix, payload]);
}

/** Any frame, of any exchange. */
export const tunnelFrame: fc.Arbitrary<WireText> = fc
  .tuple(fc.nat(8), fc.nat(5), fc.uint8Array({ maxLength: 64 }), fc.nat(70))
  .map(([kind, exchangeId, payload, length]) => {
    const frame = encodeTunnelFrame(kind, exchangeId, Buffer.from(payload));
    return { base64: frame.subarray(0, length).toString('base64') };
  });
