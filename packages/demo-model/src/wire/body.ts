import { Busboy } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { asObject, parseJson } from './json.ts';

/** The body of a request. */
export interface RequestBody {
  /** The parsed JSON, or the fields of a form; undefined if it is neither. */
  readonly body: unknown;
  readonly bytes: number;
  /** As it came; empty for a form. */
  readonly text: string;
}

/** A file of a form. Its bytes are counted and dropped while they arrive; only the first ones are kept. */
export interface UploadedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly head: Buffer;
}

/** A body that cannot be read, and the status of the response. */
export class BodyError extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

const JSON_BYTES_MAX = 64 * 1024 * 1024;
const FORM_BYTES_MAX = 1024 * 1024 * 1024;
const HEAD_BYTES = 4 * 1024;
const FORM_LIMITS = { fieldSize: 1024 * 1024, parts: 1_000, headerSize: 16 * 1024 };

/** Whether a field of a form is a file. */
export const isUploadedFile = (value: unknown): value is UploadedFile =>
  Buffer.isBuffer(asObject(value).head);

/** Reads a body of JSON, or a form in constant memory. */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const type = request.headers['content-type'] ?? '';
  if (/^multipart\/form-data\b/i.test(type)) return readForm(type, request);
  const parts: Buffer[] = [];
  for await (const part of limited(request, JSON_BYTES_MAX)) parts.push(part);
  const whole = Buffer.concat(parts);
  const text = whole.toString();
  return { body: parseJson(text), bytes: whole.length, text };
}

/** Reads a form while it arrives. */
export async function readForm(
  contentType: string,
  source: AsyncIterable<unknown>,
): Promise<RequestBody> {
  const fields = new Map<string, unknown>();
  let bytes = 0;
  try {
    const form = new Busboy({ headers: { 'content-type': contentType }, limits: FORM_LIMITS });
    form.on('field', (name, value, _isNameCut, isCut) => {
      if (isCut) form.destroy(new BodyError(`The field '${name}' is too long.`));
      fields.set(name, value);
    });
    form.on('file', (name, file, filename, _encoding, mimeType) => {
      let head = Buffer.alloc(0);
      let size = 0;
      file.on('data', (data: Buffer) => {
        size += data.length;
        if (head.length < HEAD_BYTES)
          head = Buffer.concat([head, data.subarray(0, HEAD_BYTES - head.length)]);
      });
      file.on('end', () => {
        const found: UploadedFile = { filename, contentType: mimeType, bytes: size, head };
        fields.set(name, found);
      });
    });
    form.on('partsLimit', () =>
      form.destroy(new BodyError(`The form has more than ${FORM_LIMITS.parts} parts.`)),
    );
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const part of limited(source, FORM_BYTES_MAX)) {
        bytes += part.length;
        yield part;
      }
    };
    await pipeline(counted, form);
  } catch (error) {
    if (error instanceof BodyError) throw error;
    throw new BodyError(`The form cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
  return { body: Object.fromEntries(fields), bytes, text: '' };
}

async function* limited(source: AsyncIterable<unknown>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of source) {
    if (!Buffer.isBuffer(part)) continue;
    bytes += part.length;
    if (bytes > bytesMax) throw new BodyError(`The body has more than ${bytesMax} bytes.`, 413);
    yield part;
  }
}
