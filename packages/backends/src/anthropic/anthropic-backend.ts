import { MESSAGES_API } from '@model-gateway/dialects';
import type { Backend, Capability } from '@model-gateway/router';
import { upstreamRefused } from '../errors/upstream-error.ts';
import type { ExternalOptions } from '../external/external-backend.ts';
import { probeResult } from '../external/probe-result.ts';
import { isFields } from '../fields.ts';
import { begunStream } from '../transport/answers/begun-stream.ts';
import { keyHeader } from '../transport/key-header.ts';
import { ANSWER_BYTES_MAX } from '../transport/answers/answer-limits.ts';
import { readSmallJson, readText } from '../transport/answers/read-text.ts';
import { createUpstreamHttp, isSuccess } from '../transport/upstream-http.ts';
import { answerOfMessage } from './messages-answer.ts';
import { partsOfMessage } from './message-parts.ts';
import { messagesRequest } from './messages-request.ts';
import { JSON_HEADERS } from '../transport/plain-answers.ts';

const CAPABILITIES: ReadonlySet<Capability> = new Set(['chat']);
const VERSION = '2023-06-01';
const ERROR_BODY_BYTES_MAX = 64 * 1024;
const LISTING_BYTES_MAX = 8 * 1024 * 1024;
/** The listing has pages; no provider has more models than this. */
const LISTING_PATH = '/models?limit=1000';

/** The Messages API of Anthropic, and of servers that copy it. */
export function createAnthropicBackend(options: ExternalOptions): Backend {
  const { name, prefix, apiKey, timeouts, clock } = options;
  const { answerBytesMax = ANSWER_BYTES_MAX } = options;
  const { pathname } = prefix;
  const http = createUpstreamHttp(prefix.origin, timeouts, options);
  const authHeader = options.authHeader ?? 'x-api-key';
  const headers = {
    ...JSON_HEADERS,
    'anthropic-version': VERSION,
    ...keyHeader({ apiKey, authHeader }),
  };

  const posted = (body: unknown, signal: AbortSignal) => ({
    method: 'POST' as const,
    path: `${pathname}/messages${options.search}`,
    headers,
    body: JSON.stringify(body),
    signal,
  });

  return {
    name,
    kind: 'anthropic',
    capabilities: () => CAPABILITIES,
    async probe(signal) {
      const path = `${pathname}${LISTING_PATH}`;
      const { status, body } = await http.request({ method: 'GET', path, headers, signal });
      return probeResult(status, await readText(body, LISTING_BYTES_MAX), options);
    },
    async chat(turn, signal, watch) {
      const { body: sent, ignored } = messagesRequest(turn, { stream: false });
      const request = { ...posted(sent, signal), watch };
      const { status, text, retryAfter } = await http.requestWhole(request, answerBytesMax);
      if (!isSuccess(status)) throw upstreamRefused(status, text, apiKey, retryAfter);
      const message = readSmallJson(text);
      const answer = answerOfMessage(message, { model: turn.model, clock });
      const own = isFields(message) ? { api: MESSAGES_API, value: message } : undefined;
      return { answer, own, ignored };
    },
    async chatStream(turn, signal) {
      const { body: sent, ignored } = messagesRequest(turn, { stream: true });
      const request = posted(sent, signal);
      const response = await http.request(request);
      if (!isSuccess(response.status)) {
        const detail = await readText(response.body, ERROR_BODY_BYTES_MAX);
        throw upstreamRefused(response.status, detail, apiKey, response.retryAfter);
      }
      const parts = await begunStream(partsOfMessage(response.body, apiKey));
      return { form: 'parts', parts, ignored };
    },
    close: () => http.close(),
  };
}
