/** A message of the tunnel: its kind, its exchange and its payload. */
export interface Frame {
  readonly kind: FrameKind;
  readonly exchangeId: number;
  readonly payload: Buffer;
}

export type FrameKind = (typeof KINDS)[number];

/** The peer violated the protocol; the connection must be closed. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';
}

/** The most bytes of a body in one frame, so that exchanges take turns. */
export const DATA_BYTES_MAX = 64 * 1024;
/** Heads carry only headers, so they are small. */
const HEAD_BYTES_MAX = 256 * 1024;

// The position is the number on the wire; there is no kind 0.
const KINDS = ['open', 'head', 'data', 'end', 'reset', 'credit'] as const;
const PREFIX_BYTES = 5;
const CREDIT_BYTES = 4;
const EMPTY = Buffer.alloc(0);

export function encodeFrame(
  kind: FrameKind,
  exchangeId: number,
  payload: Uint8Array = EMPTY,
): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + payload.length);
  frame[0] = KINDS.indexOf(kind) + 1;
  frame.writeUInt32BE(exchangeId, 1);
  frame.set(payload, PREFIX_BYTES);
  return frame;
}

/** Throws a TunnelError for a malformed frame. */
export function decodeFrame(bytes: Buffer): Frame {
  const kind = bytes.length < PREFIX_BYTES ? undefined : KINDS[(bytes[0] ?? 0) - 1];
  if (kind === undefined) throw new TunnelError('malformed frame');
  const payload = bytes.subarray(PREFIX_BYTES);
  const bytesMax = kind === 'data' ? DATA_BYTES_MAX : HEAD_BYTES_MAX;
  if (payload.length > bytesMax) throw new TunnelError(`frame '${kind}' is too large`);
  return { kind, exchangeId: bytes.readUInt32BE(1), payload };
}

export function encodeCredit(exchangeId: number, bytes: number): Buffer {
  const payload = Buffer.allocUnsafe(CREDIT_BYTES);
  payload.writeUInt32BE(bytes);
  return encodeFrame('credit', exchangeId, payload);
}

export function decodeCredit({ payload }: Frame): number {
  if (payload.length !== CREDIT_BYTES) throw new TunnelError('malformed credit frame');
  return payload.readUInt32BE();
}

export function encodeHead(kind: 'open' | 'head', exchangeId: number, head: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(head));
  if (payload.length > HEAD_BYTES_MAX) throw new Error('the headers are too large for the tunnel');
  return encodeFrame(kind, exchangeId, payload);
}

export function decodeHead({ payload }: Frame): unknown {
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch {
    throw new TunnelError('a head is not valid JSON');
  }
}
