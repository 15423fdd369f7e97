import { Busboy, type BusboyConfig } from '@fastify/busboy';

const BOUNDARY = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/i;
const CR = 0x0d;
const PADDING: readonly number[] = [0x20, 0x09];

/** Parses a form as it is written to it. RFC 2046 allows spaces after a boundary, which the library takes for a header. */
export class FormParser extends Busboy {
  readonly #delimiter: Buffer;
  /** Bytes that may be the beginning of a delimiter. The first delimiter has no line before it. */
  #held: Buffer = Buffer.from('\r\n');
  /** Whether the spaces after a delimiter may continue. */
  #isPadding = false;

  constructor(contentType: string, limits: BusboyConfig['limits']) {
    const boundary = boundaryOf(contentType);
    const quoted = boundary.replaceAll(/["\\]/g, '\\$&');
    super({
      headers: { 'content-type': `multipart/form-data; boundary="${quoted}"` },
      ...(limits && { limits }),
    });
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  override _write(
    chunk: Buffer,
    encoding: NodeJS.BufferEncoding,
    callback: (error?: Error | null) => void,
  ): void {
    const unpadded = this.#unpadded(chunk);
    if (unpadded.length === 0) callback();
    else super._write(unpadded, encoding, callback);
  }

  /** The bytes that can be parsed now, without the spaces after delimiters. */
  #unpadded(chunk: Buffer): Buffer {
    const data = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const delimiter = this.#delimiter;
    const pieces: Buffer[] = [];
    let from = this.#isPadding ? endOfPadding(data, 0) : 0;
    this.#isPadding &&= from === data.length;
    let at = data.indexOf(delimiter, from);
    while (at !== -1) {
      const end = at + delimiter.length;
      const next = endOfPadding(data, end);
      this.#isPadding = next === data.length;
      if (next > end) {
        pieces.push(data.subarray(from, end));
        from = next;
      }
      at = data.indexOf(delimiter, next);
    }
    const heldAt = this.#startOfHeld(data, from);
    this.#held = data.subarray(heldAt);
    pieces.push(data.subarray(from, heldAt));
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  #startOfHeld(data: Buffer, from: number): number {
    const at = data.lastIndexOf(CR);
    const isBeginning =
      at >= from &&
      data.length - at < this.#delimiter.length &&
      data.subarray(at).equals(this.#delimiter.subarray(0, data.length - at));
    return isBeginning ? at : data.length;
  }
}

function endOfPadding(data: Buffer, from: number): number {
  let end = from;
  while (PADDING.includes(data[end] ?? CR)) end += 1;
  return end;
}

/** A boundary does not end with a space; one that is quoted with it is used without. */
function boundaryOf(contentType: string): string {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted?.replaceAll(/\\(.)/g, '$1').trimEnd() ?? plain ?? '';
  if (boundary === '') throw new Error('the form has no boundary');
  return boundary;
}
