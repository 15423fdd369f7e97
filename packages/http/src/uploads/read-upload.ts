import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { ServiceError } from '@model-gateway/contracts';
import { createDeferred, isError } from '@model-gateway/kernel';
import { COUNTED_BODY_BYTES_MIN } from '../requests/body-memory.ts';
import { decodedBody } from '../requests/read-json.ts';
import { createFormParts, END_OF_FILE, type FormField, type FormFile } from './form-parts.ts';
import { FormParser } from './form-parser.ts';
import type { UploadFile, UploadFiles } from './upload-files.ts';

/** A multipart form with one file, which is never in memory as a whole. */
export interface Upload {
  /** The fields before the file; all fields if the file was kept. */
  readonly fields: readonly FormField[];
  /** The form with other fields, as a body that is read once. */
  bodyWith(fields: readonly FormField[]): UploadBody;
  /** Whether there can be another body: always if the file was kept, otherwise until the first is read. */
  canSend(): boolean;
  /** Whether a body was read to its end. */
  isSent(): boolean;
  /** How many bytes of the form have arrived, decompressed. */
  readonly bytes: number;
  /** The beginning of the file, as far as it has arrived; some kilobytes at most. */
  readonly fileHead: Buffer;
  /** Why the client's form could not be read. */
  failure(): Error | undefined;
  /** Removes the file and discards what the client still sends. */
  close(): Promise<void>;
}

/** The body of a form. */
export interface UploadBody {
  readonly contentType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The number of bytes, if it is known. */
  readonly length: number | undefined;
}

interface UploadOptions {
  /** The largest form, decompressed. */
  readonly bytesMax: number;
  /** Where a file is kept that comes before the fields that decide about it. */
  readonly files: UploadFiles;
  /** Who sends the form. */
  readonly owner: string;
  /** The fields that decide about a file. It passes at once if the first of them came before it. */
  readonly decisive: readonly [string, ...string[]];
}

const LIMITS = {
  fieldNameSize: 200,
  fieldSize: 64 * 1024,
  fields: 100,
  files: 1,
  parts: 101,
  headerPairs: 100,
};
/** All fields of a form together: as little as a body that is not counted in the memory of this process. */
const FIELDS_BYTES_MAX = COUNTED_BODY_BYTES_MIN;
const FILE_HEAD_BYTES = 4 * 1024;
const FORM_TYPE = /^multipart\/form-data\s*;/i;
const PLAIN = /^[\x20-\x7e]+$/;
const FILENAME_DEFAULT = 'file';
const FILE_TYPE_DEFAULT = 'application/octet-stream';

/** Reads a form up to its file, or completely if the fields that decide about the file come later. */
export async function readUpload(
  request: IncomingMessage,
  options: UploadOptions,
): Promise<Upload> {
  const form = new Form(request, options);
  return form.ready;
}

/** A form while it is read. A class, because its parts share much state. */
class Form implements Upload {
  readonly fields: FormField[] = [];
  readonly #request: IncomingMessage;
  readonly #options: UploadOptions;
  readonly #parser: FormParser;
  readonly #body: Readable;
  readonly #parts = createFormParts();
  readonly #ready = createDeferred<Upload>();
  readonly #parsed = createDeferred();
  /** Fields after a file that passes. */
  readonly #late: FormField[] = [];
  #file: OpenFile | undefined;
  #kept: UploadFile | undefined;
  #failure: Error | undefined;
  #isParsed = false;
  #bytes = 0;
  #fieldBytes = 0;
  #fileHead = Buffer.alloc(0);
  #isStarted = false;
  #isSent = false;

  constructor(request: IncomingMessage, options: UploadOptions) {
    this.#request = request;
    this.#options = options;
    this.#parser = parserOf(request, options.bytesMax);
    this.#body = bodyOf(request);
    this.#listen();
    this.#body.pipe(this.#parser);
    // Its events were emitted before this function listened.
    if (request.destroyed) this.#onGone();
  }

  /** Resolves when the fields that decide about the file are known. */
  get ready(): Promise<Upload> {
    return this.#ready.promise;
  }

  bodyWith(fields: readonly FormField[]): UploadBody {
    const { contentType, end } = this.#parts;
    const file = this.#file;
    if (file === undefined) throw new Error('the form has no file');
    const head = Buffer.concat([this.#parts.fields(fields), this.#parts.fileHead(file)]);
    if (file.isPassing) return { contentType, bytes: this.#passing(head, file), length: undefined };
    const kept = this.#kept;
    if (kept === undefined) throw new Error('the file was not kept');
    const tail = Buffer.concat([END_OF_FILE, end]);
    const length = head.length + kept.bytes + tail.length;
    return { contentType, bytes: this.#repeated(head, kept, tail), length };
  }

  canSend(): boolean {
    return this.#file?.isPassing === false || !this.#isStarted;
  }

  isSent(): boolean {
    return this.#isSent;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get fileHead(): Buffer {
    return this.#fileHead;
  }

  failure(): Error | undefined {
    return this.#failure;
  }

  async close(): Promise<void> {
    this.#fail(new Error('the upload was closed'));
    await this.#kept?.close();
  }

  async *#passing(head: Buffer, { stream }: OpenFile): AsyncGenerator<Buffer> {
    this.#isStarted = true;
    yield head;
    for await (const chunk of stream) yield this.#noteHead(chunk as Buffer);
    await this.#parsed.promise;
    yield Buffer.concat([END_OF_FILE, this.#parts.fields(this.#late), this.#parts.end]);
    this.#isSent = true;
  }

  async *#repeated(head: Buffer, kept: UploadFile, tail: Buffer): AsyncGenerator<Buffer> {
    yield head;
    yield* kept.read();
    yield tail;
    this.#isSent = true;
  }

  async #keep(stream: Readable): Promise<void> {
    const kept = await this.#options.files.create(this.#options.owner);
    this.#kept = kept;
    try {
      for await (const chunk of stream) await kept.write(this.#noteHead(chunk as Buffer));
      await this.#parsed.promise;
      this.#ready.resolve(this);
    } catch (error) {
      await kept.close();
      throw error;
    }
  }

  #noteHead(chunk: Buffer): Buffer {
    const missing = FILE_HEAD_BYTES - this.#fileHead.length;
    if (missing > 0) this.#fileHead = Buffer.concat([this.#fileHead, chunk.subarray(0, missing)]);
    return chunk;
  }

  #listen(): void {
    const parser = this.#parser;
    parser.on('field', (name: string | undefined, value, isNameCut, isValueCut) => {
      if (name === undefined) this.#fail(withoutName());
      else if (isNameCut || isValueCut) this.#fail(fieldTooLarge(name));
      else this.#addField({ name, value });
    });
    parser.on('file', (field: string | undefined, stream, filename, _encoding, mimeType) => {
      if (field === undefined) {
        stream.resume();
        this.#fail(withoutName());
        return;
      }
      const contentType = PLAIN.test(mimeType) ? mimeType : FILE_TYPE_DEFAULT;
      this.#open({ field, filename: filename || FILENAME_DEFAULT, contentType }, stream);
    });
    parser.on('filesLimit', () => this.#fail(tooManyFiles()));
    for (const limit of ['fieldsLimit', 'partsLimit'])
      parser.on(limit, () => this.#fail(tooManyFields()));
    parser.on('error', (cause) => this.#fail(notAForm(cause)));
    parser.on('finish', () => {
      this.#isParsed = true;
      if (this.#file === undefined) this.#fail(withoutFile());
      this.#parsed.resolve();
    });
    this.#body.once('end', () => this.#expectParsed());
    this.#request.once('close', () => this.#onGone());
    this.#request.once('error', () => this.#onGone());
    if (this.#body !== this.#request)
      this.#body.once('error', (cause) => this.#fail(notAForm(cause)));
    this.#body.on('data', this.#onData);
  }

  #open(file: FormFile, stream: Readable): void {
    // A stream without a listener would end the process when it is destroyed.
    stream.on('error', () => undefined);
    stream.once('end', () => this.#expectParsed());
    const isPassing = this.fields.some(({ name }) => name === this.#options.decisive[0]);
    this.#file = { ...file, stream, isPassing };
    if (isPassing) this.#ready.resolve(this);
    else this.#keep(stream).catch((error: unknown) => this.#fail(error));
  }

  /** The parser would wait forever for the end of a part whose headers do not end. */
  #expectParsed(): void {
    if (!this.#body.readableEnded || this.#file?.stream.readableEnded === false) return;
    setImmediate(() => {
      if (!this.#isParsed) this.#fail(notAForm());
    });
  }

  #addField(field: FormField): void {
    this.#fieldBytes += Buffer.byteLength(field.name) + Buffer.byteLength(field.value);
    if (this.#fieldBytes > FIELDS_BYTES_MAX) this.#fail(fieldsTooLarge());
    else if (this.#file?.isPassing !== true) this.fields.push(field);
    else if (this.#options.decisive.includes(field.name)) this.#fail(tooLate(field.name));
    else this.#late.push(field);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    const { bytesMax } = this.#options;
    if (this.#bytes > bytesMax) this.#fail(tooLarge(bytesMax));
  };

  #onGone(): void {
    // What was received but not read is gone with the connection.
    if (this.#request.readableEnded) return;
    this.#fail(new ServiceError('invalid_request', 'the client disconnected'));
  }

  #fail(cause: unknown): void {
    if (this.#failure !== undefined) return;
    const failure = isError(cause) ? cause : new Error('reading an upload failed', { cause });
    this.#failure = failure;
    this.#discard();
    this.#file?.stream.destroy(failure);
    this.#ready.reject(failure);
    this.#parsed.reject(failure);
  }

  /** What still arrives is dropped, so that the response reaches a client that is still sending. */
  #discard(): void {
    this.#body.unpipe(this.#parser);
    this.#body.off('data', this.#onData);
    if (this.#body !== this.#request) {
      this.#request.unpipe();
      this.#body.destroy();
    }
    this.#request.resume();
  }
}

/** The file of a form while it is read. */
interface OpenFile extends FormFile {
  readonly stream: Readable;
  /** Whether its bytes pass while they arrive; otherwise they are kept first. */
  readonly isPassing: boolean;
}

function bodyOf(request: IncomingMessage): Readable {
  try {
    return decodedBody(request);
  } catch (error) {
    request.resume();
    throw error;
  }
}

function parserOf(request: IncomingMessage, bytesMax: number): FormParser {
  const contentType = request.headers['content-type'] ?? '';
  try {
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
    if (!FORM_TYPE.test(contentType)) throw notAForm();
    return new FormParser(contentType, LIMITS);
  } catch (error) {
    request.resume();
    throw error instanceof ServiceError ? error : notAForm(error);
  }
}

const tooLarge = (bytesMax: number): ServiceError =>
  new ServiceError(
    'request_too_large',
    `the upload is larger than ${bytesMax} bytes; an operator changes the limit with SERVICE_UPLOAD_BYTES_MAX`,
  );

const fieldTooLarge = (name: string): ServiceError =>
  new ServiceError(
    'request_too_large',
    `the field '${name}' of the form is larger than ${LIMITS.fieldSize} bytes, or its name is too long`,
  );

const fieldsTooLarge = (): ServiceError =>
  new ServiceError(
    'request_too_large',
    `the fields of the form have more than ${FIELDS_BYTES_MAX} bytes together`,
  );

const tooManyFiles = (): ServiceError =>
  new ServiceError('invalid_request', 'the form has more than one file');

const tooManyFields = (): ServiceError =>
  new ServiceError('request_too_large', `the form has more than ${LIMITS.fields} fields`);

const tooLate = (name: string): ServiceError =>
  new ServiceError('invalid_request', `the field '${name}' must come before the file`);

const withoutName = (): ServiceError =>
  new ServiceError('invalid_request', 'a part of the form has no name');

const withoutFile = (): ServiceError =>
  new ServiceError('missing_fields', `'file': the form has no file`);

const notAForm = (cause?: unknown): ServiceError =>
  new ServiceError(
    'invalid_request',
    'the request body is not a complete multipart/form-data form',
    {
      cause,
    },
  );
