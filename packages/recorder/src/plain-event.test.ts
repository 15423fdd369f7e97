import { usageEventSchema } from '@model-gateway/contracts';
import { isPlainEvent } from './plain-event.ts';

const EVENT = {
  id: 'b3f1c2de-0f5a-4c1e-9a71-0c5f0a3d9e11',
  user_id: 'b3f1c2de-0f5a-4c1e-8a71-0c5f0a3d9e12',
  key_id: 'b3f1c2de-0f5a-4c1e-aa71-0c5f0a3d9e13',
  api_key_id: 'service-',
  project: 'default',
  group_id: 'b3f1c2de-0f5a-4c1e-ba71-0c5f0a3d9e14',
  model: 'm',
  backend: 'gateway',
  prompt_tokens: 1,
  completion_tokens: 2,
  total_tokens: 3,
  cost: 0.25,
  multiplier: 1,
  ref_id: 'r',
  call_id: 'c',
  upstream: 'up',
  cached_tokens: 1,
  cache_write_tokens: 1,
  images: 1,
  audio_seconds: 1.5,
  media_tokens: { audio_input: 1, cached_audio_input: 0, audio_output: 2, image_output: 0 },
  price: { source: 'file', pattern: 'm', input_per_million: 1, output_per_million: 2 },
  cached: false,
  latency_ms: 5,
  first_token_ms: 2,
  status: 200,
  request_id: 'mine',
  attempts: undefined,
  created_at: '2026-02-28T23:59:59.999Z',
};
const OPTIONAL_FIELDS = [
  'call_id',
  'upstream',
  'cached_tokens',
  'cache_write_tokens',
  'images',
  'audio_seconds',
  'media_tokens',
  'price',
  'cached',
  'latency_ms',
  'first_token_ms',
  'status',
  'request_id',
] as const;

test('what a gateway writes is plain, with and without the fields that not every request has', () => {
  expect(isPlainEvent(EVENT)).toBe(true);
  const without = new Map<string, unknown>(Object.entries(EVENT));
  for (const field of OPTIONAL_FIELDS) without.delete(field);
  for (const field of ['key_id', 'project', 'group_id', 'cost', 'ref_id']) without.set(field, null);
  expect(isPlainEvent(Object.fromEntries(without))).toBe(true);
});

const ODD: readonly unknown[] = [
  undefined,
  null,
  '',
  'x',
  'x'.repeat(300),
  -1,
  0,
  1.5,
  2 ** 53,
  Number.POSITIVE_INFINITY,
  true,
  {},
  [],
  { ...EVENT.price, more: 1 },
  { ...EVENT.price, source: 'elsewhere' },
  { ...EVENT.price, per_request: '1' },
  { ...EVENT.price, per_request: 1 },
  { source: 'file', input_per_million: 1 },
  EVENT.id.toUpperCase(),
  EVENT.id.replace('-4', '-9'),
  `${EVENT.id}\n`,
  '2026-02-29T00:00:00.000Z',
  '2024-02-29T00:00:00.000Z',
  '2026-04-31T00:00:00.000Z',
  '2026-12-31T00:00:00.000Z',
  '2026-13-01T00:00:00.000Z',
  '2026-01-00T00:00:00.000Z',
  '2026-01-01T24:00:00.000Z',
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00.000+01:00',
];

test.each(Object.keys(EVENT))(
  'an event that is plain with another %s is what its schema says',
  (field) => {
    let plain = 0;
    for (const value of ODD) {
      const event = { ...EVENT, [field]: value };
      if (!isPlainEvent(event)) continue;
      plain += 1;
      expect(usageEventSchema.parse(event)).toEqual(event);
    }
    expect(plain).toBeLessThan(ODD.length);
  },
);

test.each([undefined, null, 1, 'text', []])('%j is no event', (value) => {
  expect(isPlainEvent(value)).toBe(false);
});
