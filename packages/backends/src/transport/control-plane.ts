import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { describeError, isCheapJson, type Tracing } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { got, type CancelableRequest, type Response } from 'got';
import { neverArrived } from '../errors/never-arrived.ts';
import { upstreamAddress } from './upstream-address.ts';
import { answerRefused, upstreamFailed } from '../errors/upstream-error.ts';
import type { UpstreamTimeouts } from './upstream-http.ts';
import { PLAIN_ANSWERS } from './plain-answers.ts';

/** A response of the control plane, with any status. */
export interface ControlAnswer {
  readonly status: number;
  readonly text: string;
  /** The header of that name. */
  readonly retryAfter?: string | undefined;
}

interface PostOptions {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Small calls to one upstream outside the hot path: probes, listings, tasks. No redirects, no retries. */
export interface ControlPlane {
  get(path: string, signal: AbortSignal): Promise<ControlAnswer>;
  post(path: string, body: unknown, options: PostOptions): Promise<ControlAnswer>;
}

interface ControlPlaneOptions {
  /** The base of the paths, without a slash at its end. */
  readonly prefix: string;
  readonly apiKey: string | null;
  readonly timeouts: UpstreamTimeouts;
  readonly tracing?: Tracing | undefined;
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

export function createControlPlane({
  prefix,
  apiKey,
  timeouts,
  tracing,
}: ControlPlaneOptions): ControlPlane {
  const address = upstreamAddress(prefix);
  const client = got.extend({
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    // Calls are minutes apart: a kept connection would often be closed, and look like a failure of the upstream.
    agent: { http: new Agent({ keepAlive: false }), https: new SecureAgent({ keepAlive: false }) },
    // The size limit counts the bytes on the wire, so the response must not be compressed.
    decompress: false,
    headers: {
      ...PLAIN_ANSWERS,
      'user-agent': 'model-gateway',
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    timeout: {
      lookup: timeouts.connectMs,
      connect: timeouts.connectMs,
      secureConnect: timeouts.connectMs,
      socket: timeouts.idleMs,
      request: timeouts.totalMs,
    },
  });

  function tracedHeaders(): Readonly<Record<string, string>> {
    tracing?.annotate(address);
    return tracing?.headers() ?? {};
  }

  async function answerOf(call: CancelableRequest<Response<string>>): Promise<ControlAnswer> {
    let isTooLarge = false;
    void call.on('downloadProgress', ({ transferred }) => {
      if (transferred <= ANSWER_BYTES_MAX) return;
      isTooLarge = true;
      call.cancel();
    });
    try {
      const { statusCode, body, headers } = await call;
      if (!isCheapJson(body)) throw answerRefused('with too many values');
      return { status: statusCode, text: body, retryAfter: headers['retry-after'] };
    } catch (error) {
      if (error instanceof UpstreamFailure) throw error;
      if (isTooLarge) throw upstreamFailed(`the upstream sent more than ${ANSWER_BYTES_MAX} bytes`);
      throw new UpstreamFailure(describeError(error), {
        isBackendAtFault: true,
        hadNoEffect: neverArrived(error),
        cause: error,
      });
    }
  }

  return {
    get: (path, signal) =>
      answerOf(client(`${prefix}${path}`, { signal, headers: tracedHeaders() })),
    post: (path, body, { signal, headers: own = {} }) => {
      const headers = { ...own, ...tracedHeaders() };
      return answerOf(client(`${prefix}${path}`, { method: 'POST', json: body, signal, headers }));
    },
  };
}
