import {
  createJsonMeter,
  decodeInSteps,
  isNestedTooDeeply,
  METERED_BYTES_MIN,
  tryParseJson,
  type JsonMeter,
} from '@model-gateway/kernel';
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import { decodedBody } from './decoded-body.ts';

const ONE_STEP_BYTES_MAX = 1024 * 1024;

/** Parses the text of a body; invalid JSON is refused. */
export function parseJson(text: string): unknown {
  const value = tryParseJson(text);
  if (value !== undefined) return value;
  if (isNestedTooDeeply(text))
    throw new ServiceError('invalid_request', 'the request is nested too deeply');
  throw new ServiceError('invalid_json', 'the request body is not valid JSON');
}

/** Reads a JSON body of at most `bytesMax` bytes as UTF-8, decompressed if necessary; one that would take long to parse is refused. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = decodedBodyOf(request);
    const chunks: Buffer[] = [];
    let size = 0;
    let meter: JsonMeter | undefined;
    const refuse = (problem: string) => {
      // The rest is discarded, so that the response reaches a client that is still sending.
      body.removeAllListeners('data');
      if (body !== request) body.destroy();
      request.unpipe();
      request.resume();
      chunks.length = 0;
      reject(new ServiceError('request_too_large', `the request body ${problem}`));
    };
    const isCheap = (chunk: Buffer): boolean => {
      if (size <= METERED_BYTES_MIN) return true;
      if (meter !== undefined) return meter.add(chunk);
      meter = createJsonMeter();
      return chunks.every((one) => meter?.add(one));
    };
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
      refuse(`is larger than ${bytesMax} bytes`);
      return;
    }
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > bytesMax) refuse(`is larger than ${bytesMax} bytes`);
      else if (!isCheap(chunk)) refuse('has too many or too deeply nested values');
    });
    const onGone = () => {
      if (body !== request) body.destroy();
      reject(new ServiceError('invalid_request', 'the client disconnected'));
    };
    body.once('end', () => {
      // Every request closes at its end; that is no error.
      request.off('close', onGone);
      if (size > ONE_STEP_BYTES_MAX) {
        resolve(decodeInSteps(chunks));
        return;
      }
      const [first] = chunks;
      const whole = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      resolve(whole.toString('utf8'));
    });
    // The only error of a request is a connection that ended early, which is no failure of this service.
    request.once('error', onGone);
    if (body !== request) {
      // What was received completely may still be decompressed.
      request.once('end', () => request.off('close', onGone));
      body.once('error', (cause) => {
        const encoding = request.headers['content-encoding'];
        const problem = `the request body is not valid ${encoding} data`;
        request.unpipe();
        request.resume();
        reject(new ServiceError('invalid_request', problem, { cause }));
      });
    }
    request.once('close', onGone);
  });
}

/** A body that cannot be decoded is discarded, so that the response reaches a client that is still sending. */
function decodedBodyOf(request: IncomingMessage) {
  try {
    return decodedBody(request);
  } catch (error) {
    request.resume();
    throw error;
  }
}
