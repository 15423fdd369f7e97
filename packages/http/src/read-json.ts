import { tryParseJson } from '@model-gateway/kernel';
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';

/** Parses the text of a body; invalid JSON is refused. */
export function parseJson(text: string): unknown {
  const value = tryParseJson(text);
  if (value !== undefined) return value;
  throw new ServiceError('invalid_json', 'the request body is not valid JSON');
}

/** Reads a body of at most `bytesMax` bytes as UTF-8. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const tooLarge = () => {
      // The rest is discarded, so that the response reaches a client that is still sending.
      request.removeAllListeners('data');
      request.resume();
      reject(
        new ServiceError('request_too_large', `the request body is larger than ${bytesMax} bytes`),
      );
    };
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
      tooLarge();
      return;
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) tooLarge();
      else chunks.push(chunk);
    });
    const onClose = () => reject(new ServiceError('invalid_request', 'the client disconnected'));
    request.once('end', () => {
      // Every request closes at its end; that is no error.
      request.off('close', onClose);
      const [first] = chunks;
      const whole = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      resolve(whole.toString('utf8'));
    });
    request.once('error', reject);
    request.once('close', onClose);
  });
}
