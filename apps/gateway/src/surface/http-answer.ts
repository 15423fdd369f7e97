import type { ServerResponse } from 'node:http';
import { beginResponse, breakOff, jsonHeaders } from '@model-gateway/http';

/** Reads along what a client is sent. */
export interface AnswerReader {
  /** Names and values of the headers alternate. Not called for an error. */
  onHead?(headers: readonly string[]): void;
  onPart(part: string | Uint8Array): void;
  /** The answer is whole: not called when it breaks off, or for an error. */
  onEnd?(): void;
}

const NOTHING: readonly string[] = [];

/** The answer to one call: everything that its client gets is written here, so that the cache and the request log can read along. */
export class HttpAnswer {
  readonly response: ServerResponse;
  #readers: readonly AnswerReader[] = [];

  constructor(response: ServerResponse) {
    this.response = response;
  }

  get isBegun(): boolean {
    return this.response.headersSent;
  }

  readAlong(reader: AnswerReader): void {
    this.#readers = [...this.#readers, reader];
  }

  /** Writes the status 200 and the headers. */
  begin(headers: readonly string[]): void {
    beginResponse(this.response, 200, headers);
    for (const reader of this.#readers) reader.onHead?.(headers);
  }

  /** False while the client has to catch up. */
  write(part: string | Uint8Array): boolean {
    this.saw(part);
    return this.response.write(part);
  }

  end(part?: string | Uint8Array): void {
    if (part !== undefined) this.saw(part);
    for (const reader of this.#readers) reader.onEnd?.();
    if (part === undefined) this.response.end();
    else this.response.end(part);
  }

  /** A whole JSON answer, in one part or several. */
  json(headers: readonly string[], parts: string | readonly Buffer[]): void {
    this.begin([...headers, ...jsonHeaders(parts)]);
    if (typeof parts === 'string') return this.end(parts);
    for (const part of parts) this.write(part);
    this.end();
  }

  /** Ends an answer that is not whole. */
  breakOff(failure: unknown): void {
    this.saw(breakOff(this.response, failure));
  }

  /** This was sent, here or by another part of the app. */
  saw(part: string | Uint8Array = ''): void {
    if (part.length > 0) for (const reader of this.#readers) reader.onPart(part);
  }
}

/** Keeps a whole answer: its headers that have these names, and its body, undefined if that is larger than so many bytes. */
export function keepAnswer(
  answer: HttpAnswer,
  { names, bytesMax }: { readonly names: ReadonlySet<string>; readonly bytesMax: number },
  onEnd: (kept: { readonly headers: readonly string[]; readonly body: Buffer | undefined }) => void,
): void {
  const parts: Buffer[] = [];
  let size = 0;
  let kept = NOTHING;
  answer.readAlong({
    onHead(headers) {
      kept = headers.flatMap((name, at) =>
        at % 2 === 0 && names.has(name.toLowerCase()) ? [name, headers[at + 1] ?? ''] : [],
      );
    },
    onPart(part) {
      size += typeof part === 'string' ? Buffer.byteLength(part) : part.byteLength;
      // A copy, because what was written may be used again.
      if (size <= bytesMax) parts.push(Buffer.from(part));
      else parts.length = 0;
    },
    onEnd: () => onEnd({ headers: kept, body: size > bytesMax ? undefined : Buffer.concat(parts) }),
  });
}
