import { isUtf8 } from 'node:buffer';
import { z } from 'zod';

/** An answer as it is stored: what is needed to send it again. */
export interface StoredAnswer {
  /** When it was generated, in milliseconds since 1970. */
  readonly at: number;
  /** The model that generated it, as its backend lists it. */
  readonly model: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/** A stored answer as it is sent again. */
export interface SendableAnswer extends StoredAnswer {
  /** All headers that belong to the answer. */
  readonly allHeaders: readonly string[];
  /** One text is written at once with the headers, bytes are not. */
  readonly content: string | Uint8Array;
}

/** Streams have a length as well: all of their events are sent at once. */
export function sendable(answer: StoredAnswer): SendableAnswer {
  const { headers, body } = answer;
  const content = isUtf8(body) ? Buffer.from(body).toString() : body;
  const added = ['content-length', String(body.byteLength), 'x-service-cache', 'hit'];
  return { ...answer, content, allHeaders: [...headers, ...added] };
}

const headSchema = z.object({ at: z.number(), model: z.string(), headers: z.array(z.string()) });
const LENGTH_BYTES = 4;

/** The length of the head, the head as JSON, and the body. */
export function encodeAnswer({ at, model, headers, body }: StoredAnswer): Uint8Array {
  const head = Buffer.from(JSON.stringify({ at, model, headers }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, body]);
}

/** Undefined for bytes that are no answer. */
export function decodeAnswer(bytes: Uint8Array): StoredAnswer | undefined {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = LENGTH_BYTES + buffer.readUInt32BE(0);
    const head = headSchema.parse(JSON.parse(buffer.toString('utf8', LENGTH_BYTES, end)));
    return { ...head, body: buffer.subarray(end) };
  } catch {
    return undefined;
  }
}
