import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { ServiceError } from '@model-gateway/contracts';

type Decoder = () => Transform;

/** Node has it from version 22.15 on. */
const createZstd: unknown = Reflect.get(zlib, 'createZstdDecompress');
const isDecoder = (value: unknown): value is Decoder => typeof value === 'function';

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', () => zlib.createInflate()],
  ['br', () => zlib.createBrotliDecompress()],
  ...(isDecoder(createZstd) ? [['zstd', createZstd] as const] : []),
]);

/** The encodings that request bodies may have. */
const KNOWN = [...DECODERS.keys()].filter((name) => name !== 'x-gzip').join(', ');

/**
 * The body of a request without its `content-encoding`. The receiver counts what it reads: nothing is decoded further than
 * it reads, so that a small body that would become huge takes little memory.
 */
export function decodedBody(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined) return request;
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return request;
  const decoder = DECODERS.get(name);
  if (decoder === undefined) {
    throw new ServiceError(
      'unsupported_encoding',
      `content-encoding '${encoding.slice(0, 64)}' is not supported; use one of: ${KNOWN}`,
    );
  }
  return request.pipe(decoder());
}
