import type { IncomingMessage } from 'node:http';
import { ToolError } from '../../errors.ts';

const BODY_BYTES_MAX = 1024 * 1024;

/** The JSON body of a request with any content type; an empty body is an empty object. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const text = (await readText(request)).trim();
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ToolError('INVALID_JSON', `The body is not JSON: ${(error as Error).message}.`, {
      hint: 'Send a JSON object, such as {"url": "https://example.com"}.',
    });
  }
}

function readText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      // The rest is read and discarded, so that the caller receives the error.
      if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
      else reject(tooLarge());
    });
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    // The only error of a request is a connection that ended early, to which nothing can be sent.
    request.once('error', () => reject(disconnected()));
  });
}

function disconnected(): ToolError {
  return new ToolError('INVALID_JSON', 'The client disconnected before its body was complete.', {
    hint: 'Send the whole body.',
  });
}

function tooLarge(): ToolError {
  return new ToolError('PAYLOAD_TOO_LARGE', `The body is larger than ${BODY_BYTES_MAX} bytes.`, {
    hint: 'Send less, or split it into several calls.',
    details: { bytes_max: BODY_BYTES_MAX },
  });
}
