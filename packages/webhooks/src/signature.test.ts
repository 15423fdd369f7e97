import { Webhook as Verifier } from 'standardwebhooks';
import { eventBody, publicEventId } from './event-body.ts';
import { newSigningSecret, signatureHeaders } from './signature.ts';

const event = {
  id: '5f0e7e9c-3f9f-4a30-9a54-6f6bd5d8a2a1',
  type: 'key.expiring',
  at: new Date('2026-03-01T00:00:00Z'),
  data: { key_name: 'café <b> & co', expires_at: '2026-03-08T00:00:00.000Z' },
} as const;

const secret = newSigningSecret();

function signed(at = Date.now()) {
  const body = eventBody(event, 'standard');
  return {
    body,
    headers: signatureHeaders({ id: publicEventId(event.id), secret, body, at }),
  };
}

test('the library of Standard Webhooks verifies a request', () => {
  const { body, headers } = signed();
  expect(new Verifier(secret).verify(body, headers)).toEqual({
    type: 'key.expiring',
    timestamp: '2026-03-01T00:00:00.000Z',
    data: event.data,
  });
});

test.each([
  { why: 'another body', change: { body: '{}' } },
  { why: 'another id', change: { headers: { 'webhook-id': 'evt_other' } } },
  { why: 'an old request', change: { at: Date.now() - 3_600_000 } },
])('it refuses $why', ({ change }) => {
  const { at, body, headers } = { at: undefined, body: undefined, headers: {}, ...change };
  const request = signed(at);
  expect(() =>
    new Verifier(secret).verify(body ?? request.body, { ...request.headers, ...headers }),
  ).toThrow();
});

test('another secret does not verify it', () => {
  const { body, headers } = signed();
  expect(() => new Verifier(newSigningSecret()).verify(body, headers)).toThrow();
});

test('a body for Slack is one text, in which nothing is a link or a mention', () => {
  expect(JSON.parse(eventBody(event, 'slack'))).toEqual({
    text: 'key.expiring: The key "café &lt;b&gt; &amp; co" expires at 2026-03-08T00:00:00.000Z.',
  });
});
