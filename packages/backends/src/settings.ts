import { ANSWER_BYTES_MAX } from './transport/answers/answer-limits.ts';
import { ANSWERS_BYTES_MAX } from './transport/answers/answer-memory.ts';
import { integer, setting, timerMs, timerSecs, urlWith, withDefault } from '@model-gateway/kernel';

/** Limits and the bridge of upstreams. */
export const upstreamSettings = {
  upstreamConnectTimeoutMs: setting(
    'SERVICE_UPSTREAM_CONNECT_TIMEOUT_MS',
    withDefault(timerMs(), 10_000),
    { description: 'How long connecting to an upstream may take.' },
  ),
  upstreamIdleTimeoutMs: setting(
    'SERVICE_UPSTREAM_IDLE_TIMEOUT_MS',
    withDefault(timerMs(), 120_000),
    {
      description:
        'A streamed answer has failed when the upstream sends no byte of it for this long. An answer that is not streamed may take the total time.',
    },
  ),
  upstreamTotalTimeoutMs: setting(
    'SERVICE_UPSTREAM_TOTAL_TIMEOUT_MS',
    withDefault(timerMs(), 600_000),
    { description: 'How long an answer that is not streamed may take.' },
  ),
  upstreamKeepAliveSecs: setting('SERVICE_UPSTREAM_KEEPALIVE_SECS', withDefault(timerSecs(), 60), {
    description:
      "How long an unused connection to an upstream is kept, unless the upstream's `keep-alive` header says less.",
  }),
  upstreamAnswerBytesMax: setting(
    'SERVICE_UPSTREAM_ANSWER_BYTES_MAX',
    withDefault(integer(1024), ANSWER_BYTES_MAX),
    {
      description:
        'How large an answer of an upstream that is not streamed may be. A larger one is a 502.',
    },
  ),
  upstreamAnswersBytesMax: setting(
    'SERVICE_UPSTREAM_ANSWERS_BYTES_MAX',
    withDefault(integer(1024), ANSWERS_BYTES_MAX),
    {
      description:
        'How many bytes of large answers that are not streamed a process holds at once, until clients have them. Further answers wait; after 30 s the call is a 503 `overloaded`. The process needs about four times this memory.',
    },
  ),
  bridgeUrl: setting(
    'SERVICE_BRIDGE_URL',
    withDefault(urlWith('ws', 'wss'), 'ws://127.0.0.1:7337'),
    { description: 'The local bridge agent, which resolves `bridge://` URLs of backends.' },
  ),
};
