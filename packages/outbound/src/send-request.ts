import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { describeError, raceAbort } from '@model-gateway/kernel';
import type { SendRequest } from '@model-gateway/webhooks';
import { RefusedReceiver, type Address, type ResolveReceiver } from './resolve-receiver.ts';

interface SendDependencies {
  readonly resolve: ResolveReceiver;
  readonly timeoutMs?: number;
}

type Answer = Awaited<ReturnType<SendRequest>>;

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const HEADER_BYTES_MAX = 16 * 1024;

/**
 * Sends requests to URLs that users chose. The name is resolved once, and the connection goes to the addresses that were
 * checked. Redirects are not followed, and of the answer only the status is used.
 */
export function createSendRequest({
  resolve,
  timeoutMs = TIMEOUT_MS,
}: SendDependencies): SendRequest {
  return async ({ url, headers, body }) => {
    const target = new URL(url);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const addresses = await raceAbort(resolve(target), signal);
      const response = await post(target, addresses, { headers, body, signal });
      await discard(response);
      return { status: response.statusCode ?? 0 };
    } catch (error) {
      return failureOf(error, signal, timeoutMs);
    }
  };
}

interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

function post(
  url: URL,
  addresses: readonly Address[],
  { headers, body, signal }: PostOptions,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'model-gateway-webhooks',
        ...headers,
      },
      lookup: lookupAmong(addresses),
      // A connection per request: none outlives the check of its address.
      agent: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      signal,
    });
    request.once('response', resolve);
    // The listener stays: an abort after the answer emits another error.
    request.on('error', reject);
    request.end(body);
  });
}

/** Answers with the checked addresses, without a second query. */
function lookupAmong(addresses: readonly Address[]): LookupFunction {
  return (_name, options, done) => {
    if (options.all === true) {
      done(null, [...addresses]);
      return;
    }
    const [first] = addresses;
    done(null, first?.address ?? '', first?.family);
  };
}

/** Reads a short answer to its end, so that the receiver sees no broken connection, and closes the connection. */
async function discard(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) break;
    }
  } catch {
    // The status has arrived, and nothing else is used.
  } finally {
    response.destroy();
  }
}

function failureOf(error: unknown, signal: AbortSignal, timeoutMs: number): Answer {
  if (error instanceof RefusedReceiver) return { error: error.message };
  if (signal.aborted) return { error: `the receiver did not answer within ${timeoutMs} ms` };
  return { error: `the receiver cannot be reached: ${describeError(error)}` };
}
