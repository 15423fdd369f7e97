import { readdir, readlink } from 'node:fs/promises';
import { request as httpRequest, type ClientRequest } from 'node:http';
import { join } from 'node:path';
import type { GatewayUnderTest } from '../gateway.ts';
import type { ReceivedRequest } from './relay-upstream.ts';

/** A part of a form; one with a filename is a file. */
export interface Part {
  readonly name: string;
  readonly value: string;
  readonly filename?: string;
}

/** Sends forms to a gateway. */
export interface UploadClient {
  send(
    form: readonly Part[] | string | Buffer,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** Begins a form that is sent piece by piece, without a length. The status is 0 if there is no answer. */
  begin(): { readonly client: ClientRequest; readonly status: Promise<number> };
}

const BOUNDARY = 'x-boundary';
/** The end of a form. */
export const END = `--${BOUNDARY}--\r\n`;

export function createUploadClient({
  url,
  key,
}: Pick<GatewayUnderTest, 'url' | 'key'>): UploadClient {
  const address = `${url}/v1/audio/transcriptions`;
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
  };
  return {
    send: (form, more = {}) =>
      fetch(address, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: typeof form === 'string' || Buffer.isBuffer(form) ? form : formOf(form),
      }),
    begin() {
      const client = httpRequest(address, { method: 'POST', headers });
      const status = new Promise<number>((resolve) => {
        client.on('error', () => resolve(0));
        client.on('response', (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode ?? 0));
        });
      });
      return { client, status };
    },
  };
}

/** A whole form. */
export const formOf = (parts: readonly Part[]): string => textOf(parts) + END;

/** Parts without the end of a form. */
export const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => `${headOf(part)}${part.value}\r\n`).join('');

/** What comes before the value of a part. */
export const headOf = ({ name, filename }: Omit<Part, 'value'>): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"` +
  (filename === undefined
    ? '\r\n\r\n'
    : `; filename="${filename.replaceAll('"', '%22')}"\r\ncontent-type: audio/mpeg\r\n\r\n`);

/** Resolves when a piece is sent. */
export const written = (client: ClientRequest, piece: string | Buffer): Promise<void> =>
  new Promise((resolve) => {
    client.write(piece, () => resolve());
  });

/** The form that an upstream received. */
export async function formAt(call: ReceivedRequest | undefined): Promise<[string, unknown][]> {
  const type = String(call?.request.headers['content-type']);
  const received = new Response(await call?.body, { headers: { 'content-type': type } });
  const entries: [string, unknown][] = [];
  for (const [name, value] of await received.formData()) {
    const isText = typeof value === 'string';
    entries.push([name, isText ? value : [value.name, value.type, await value.text()]]);
  }
  return entries;
}

/** The files that this process has open below a folder, also those whose names were removed. */
export async function openFilesBelow(folder: string): Promise<readonly string[]> {
  const targets = (await readdir('/proc/self/fd')).map((fd) =>
    readlink(join('/proc/self/fd', fd)).catch(() => ''),
  );
  const all = await Promise.all(targets);
  return all.filter((target) => target.startsWith(folder));
}

/** The header of a WAV file with 16,384 samples of 16 bits a second, all of its bytes below 128. */
export const WAV_HEAD =
  'RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\0\x40\0\0\0\0\0\0\x02\0\x10\0data\0\0\0\0';
