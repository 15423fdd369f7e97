import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { manualClock, silentLog } from '@model-gateway/kernel';
import { setErrorForms } from '@model-gateway/http';
import { refusedByLimit, sendError } from './refusals.ts';
import { createRequestLimiter } from './request-limiter.ts';

test.each([
  { requestsPerMinute: 2, reset: '35s' },
  { requestsPerMinute: 0, reset: '60s' },
])(
  'a refusal at $requestsPerMinute requests per minute says when the oldest one stops counting',
  ({ requestsPerMinute, reset }) => {
    const clock = manualClock(1_000_000);
    const limiter = createRequestLimiter({ requestsPerMinute, clock });
    limiter.admits('key');
    clock.advance(25_000);
    limiter.admits('key');
    expect(limiter.admits('key')).toBe(false);
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    sendError(refusedByLimit(response, limiter, 'key'), response.req, response, silentLog);
    expect(response.statusCode).toBe(429);
    expect(response.getHeader('x-ratelimit-remaining-requests')).toBe('0');
    expect(response.getHeader('x-ratelimit-reset-requests')).toBe(reset);
  },
);

test.each([
  { requestsPerMinute: 1, seconds: 36 },
  { requestsPerMinute: 0, seconds: 60 },
])("in OpenAI's form a refusal at $requestsPerMinute has retry-after", (row) => {
  const { requestsPerMinute, seconds } = row;
  const clock = manualClock(1_000_000);
  const limiter = createRequestLimiter({ requestsPerMinute, clock });
  limiter.admits('key');
  clock.advance(24_500);
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  setErrorForms(response, 'openai');
  const refusal = refusedByLimit(response, limiter, 'key');
  expect(refusal).toMatchObject({
    code: 'rate_limit_exceeded',
    details: { retry_after_secs: seconds },
  });
  sendError(refusal, response.req, response, silentLog);
  expect(response.getHeader('retry-after')).toBe(String(seconds));
});
