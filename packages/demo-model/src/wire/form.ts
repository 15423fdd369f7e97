import { asObject, type JsonObject } from './json.ts';

/** A file of an upload. Its bytes are counted and dropped while they arrive; only the first ones are kept. */
export interface UploadedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly head: Buffer;
}

/** An upload: texts and files by their names, and its size. */
export interface Form {
  readonly fields: JsonObject;
  readonly bytes: number;
}

/** An upload that cannot be read, and the status of the response. */
export class FormError extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

const UPLOAD_BYTES_MAX = 1024 * 1024 * 1024;
const HEAD_BYTES = 4 * 1024;
const PART_HEADERS_BYTES_MAX = 16 * 1024;
const TEXT_BYTES_MAX = 1024 * 1024;
const PARTS_MAX = 1_000;

/** Whether a content type is that of an upload. */
export const isForm = (contentType: string | undefined): contentType is string =>
  /^multipart\/form-data\b/i.test(contentType ?? '');

/** Whether a field of an upload is a file. */
export const isUploadedFile = (value: unknown): value is UploadedFile =>
  Buffer.isBuffer(asObject(value).head);

/** Reads an upload while it arrives, in constant memory. */
export async function readForm(contentType: string, body: AsyncIterable<unknown>): Promise<Form> {
  const boundary = /boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i
    .exec(contentType)
    ?.slice(1)
    .find((text) => text !== undefined);
  if (boundary === undefined) throw new FormError('The multipart body has no boundary.');
  const reader = createFormReader(boundary);
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > UPLOAD_BYTES_MAX) throw new FormError('The upload is too large.', 413);
    reader.push(chunk);
  }
  return { fields: reader.end(), bytes };
}

interface FormReader {
  push(chunk: Buffer): void;
  end(): JsonObject;
}

interface Part {
  readonly name: string;
  readonly filename: string | undefined;
  readonly contentType: string;
  readonly kept: Buffer[];
  keptBytes: number;
  bytes: number;
}

type Place = 'preamble' | 'after boundary' | 'headers' | 'body' | 'end';

/** Finds the parts of a multipart body; pieces may be cut anywhere. */
function createFormReader(boundary: string): FormReader {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const fields = new Map<string, unknown>();
  let place: Place = 'preamble';
  // The first delimiter may stand at the very beginning.
  let rest: Buffer = Buffer.from('\r\n');
  let part: Part | undefined;
  let parts = 0;

  /** Moves to the next delimiter; returns false if more bytes are needed. */
  function readToDelimiter(): boolean {
    const at = rest.indexOf(delimiter);
    const end = at === -1 ? Math.max(0, rest.length - delimiter.length + 1) : at;
    if (part !== undefined) addBytes(part, rest.subarray(0, end));
    rest = rest.subarray(at === -1 ? end : at + delimiter.length);
    if (at === -1) return false;
    if (part !== undefined) addField(fields, part);
    part = undefined;
    place = 'after boundary';
    return true;
  }

  function readAfterBoundary(): boolean {
    if (rest.length < 2) return false;
    place = rest.subarray(0, 2).toString('latin1') === '--' ? 'end' : 'headers';
    return true;
  }

  function readHeaders(): boolean {
    const at = rest.indexOf('\r\n\r\n');
    if (at === -1) {
      if (rest.length > PART_HEADERS_BYTES_MAX) throw new FormError('A part has no valid headers.');
      return false;
    }
    parts += 1;
    if (parts > PARTS_MAX) throw new FormError(`The upload has more than ${PARTS_MAX} parts.`);
    part = readPart(rest.subarray(0, at).toString());
    rest = rest.subarray(at + 4);
    place = 'body';
    return true;
  }

  function step(): boolean {
    switch (place) {
      case 'preamble':
      case 'body':
        return readToDelimiter();
      case 'after boundary':
        return readAfterBoundary();
      case 'headers':
        return readHeaders();
      case 'end':
        rest = Buffer.alloc(0);
        return false;
    }
  }

  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (step());
    },
    end() {
      if (place !== 'end') throw new FormError('The multipart body ends too early.');
      return Object.fromEntries(fields);
    },
  };
}

function readPart(headers: string): Part {
  const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? '';
  const name = /[;\s]name="([^"]*)"/i.exec(disposition)?.[1];
  if (name === undefined) throw new FormError('A part of the upload has no name.');
  return {
    name,
    filename: /[;\s]filename="([^"]*)"/i.exec(disposition)?.[1],
    contentType: /^content-type:\s*(\S+)/im.exec(headers)?.[1] ?? 'application/octet-stream',
    kept: [],
    keptBytes: 0,
    bytes: 0,
  };
}

function addBytes(part: Part, bytes: Buffer): void {
  part.bytes += bytes.length;
  const isFile = part.filename !== undefined;
  if (!isFile && part.bytes > TEXT_BYTES_MAX)
    throw new FormError(`The field '${part.name}' is too long.`);
  const room = isFile ? HEAD_BYTES - part.keptBytes : bytes.length;
  if (room <= 0 || bytes.length === 0) return;
  // A copy, so that the large chunk is not kept.
  const kept = Buffer.from(bytes.subarray(0, room));
  part.kept.push(kept);
  part.keptBytes += kept.length;
}

function addField(fields: Map<string, unknown>, part: Part): void {
  const { filename, contentType, bytes } = part;
  const head = Buffer.concat(part.kept);
  fields.set(
    part.name,
    filename === undefined
      ? head.toString()
      : ({ filename, contentType, bytes, head } satisfies UploadedFile),
  );
}
