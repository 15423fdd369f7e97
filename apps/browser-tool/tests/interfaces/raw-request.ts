import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** The answer to a raw request. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The decoded text of a JSON answer. */
  readonly body: Record<string, unknown>;
}

interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request as no browser and no fetch would send it, such as one with a foreign Host. */
export function sendRaw(
  port: number,
  { method, path, headers = {}, body = '' }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
        });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}
