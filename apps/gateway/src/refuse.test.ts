import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { manualClock } from '@model-gateway/kernel';
import { refuseLimit } from './refuse.ts';
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
    refuseLimit(response, limiter, 'key');
    expect(response.statusCode).toBe(429);
    expect(response.getHeader('x-ratelimit-remaining-requests')).toBe('0');
    expect(response.getHeader('x-ratelimit-reset-requests')).toBe(reset);
  },
);
