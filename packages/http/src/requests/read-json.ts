import {
  type ByteShare,
  createJsonMeter,
  hasTooManyNumbers,
  isNestedTooDeeply,
  type JsonMeter,
  METERED_BYTES_MIN,
  tryParseExactJson,
  tryParseJson,
} from '@model-gateway/kernel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import { type BodyMemory, COUNTED_BODY_BYTES_MIN } from './body-memory.ts';
import type { Readable, Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** Parses the text of a body; invalid JSON is refused. */
export function parseJson(text: string): unknown {
  const value = tryParseJson(text);
  if (value === undefined) throw refusalOf(text);
  return value;
}

/** The same for a body of which parts are passed on: its numbers keep their text, see `tryParseExactJson`. */
export function parseExactJson(text: string): unknown {
  const value = tryParseExactJson(text);
  if (value === undefined) throw refusalOf(text);
  return value;
}

function refusalOf(text: string): ServiceError {
  if (hasTooManyNumbers(text)) return tooLarge('has too many long or unusual numbers');
  if (isNestedTooDeeply(text))
    return new ServiceError('invalid_request', 'the request is nested too deeply');
  return new ServiceError('invalid_json', 'the request body is not valid JSON');
}

/** Where the memory of a large body comes from. It is held until the response has been sent. */
export interface CountedBody {
  readonly memory: BodyMemory;
  readonly owner: string;
  readonly response: ServerResponse;
}

/** Reads a JSON body of at most `bytesMax` bytes as UTF-8, decompressed if necessary; one that would take long to parse is refused. */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  counted?: CountedBody,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = decodedBodyOf(request);
    const chunks: Buffer[] = [];
    let size = 0;
    let meter: JsonMeter | undefined;
    let share: ByteShare | undefined;
    const refuse = (refusal: ServiceError) => {
      // The rest is discarded, so that the response reaches a client that is still sending.
      body.removeAllListeners('data');
      if (body !== request) body.destroy();
      request.unpipe();
      request.resume();
      chunks.length = 0;
      share?.release();
      reject(refusal);
    };
    /** Nothing more is read until there is memory for the body. */
    const hold = ({ memory, owner, response }: CountedBody, bytes: number): void => {
      const onSettled = (refusal?: ServiceError): void => {
        if (refusal === undefined) body.resume();
        else refuse(refusal);
      };
      const taken = memory.take(owner, bytes, onSettled, response);
      share = taken;
      if (!taken.isGranted) body.pause();
      response.once('close', () => taken.release());
    };
    const isCheap = (chunk: Buffer): boolean => {
      if (size <= METERED_BYTES_MIN) return true;
      if (meter !== undefined) return meter.add(chunk);
      meter = createJsonMeter();
      return chunks.every((one) => meter?.add(one));
    };
    const declaredBytes = Number(request.headers['content-length'] ?? 0);
    if (declaredBytes > bytesMax) {
      refuse(tooLarge(`is larger than ${bytesMax} bytes`));
      return;
    }
    // Its events were emitted before this function listened.
    if (request.destroyed || counted?.response.destroyed === true) {
      reject(clientGone());
      return;
    }
    if (declaredBytes > COUNTED_BODY_BYTES_MIN && counted !== undefined && body === request)
      hold(counted, declaredBytes);
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > bytesMax) refuse(tooLarge(`is larger than ${bytesMax} bytes`));
      else if (!isCheap(chunk)) refuse(tooLarge('has too many or too deeply nested values'));
      else if (size > COUNTED_BODY_BYTES_MIN && share === undefined && counted !== undefined)
        // It is not known how much follows.
        hold(counted, bytesMax);
    });
    const onGone = () => {
      if (body !== request) body.destroy();
      reject(clientGone());
    };
    // Each of these events comes once; `once` would cost more functions.
    body.on('end', () => {
      // Every request closes at its end; that is no error.
      request.off('close', onGone);
      share?.shrink(size);
      const [first] = chunks;
      const whole = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      resolve(whole.toString('utf8'));
    });
    // The only error of a request is a connection that ended early, which is no failure of this service.
    request.on('error', onGone);
    if (body !== request) {
      // What was received completely may still be decompressed.
      request.once('end', () => request.off('close', onGone));
      body.once('error', (cause) => {
        const encoding = request.headers['content-encoding'];
        const problem = `the request body is not valid ${encoding} data`;
        request.unpipe();
        request.resume();
        reject(new ServiceError('invalid_request', problem, { cause }));
      });
    }
    request.on('close', onGone);
  });
}

const tooLarge = (problem: string): ServiceError =>
  new ServiceError('request_too_large', `the request body ${problem}`);

const clientGone = (): ServiceError =>
  new ServiceError('invalid_request', 'the client disconnected');

/** A body that cannot be decoded is discarded, so that the response reaches a client that is still sending. */
function decodedBodyOf(request: IncomingMessage) {
  try {
    return decodedBody(request);
  } catch (error) {
    request.resume();
    throw error;
  }
}

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
