import { videoRequestSchema } from './video.ts';

const IMAGE_BYTES_MAX = 10 * 1024 * 1024;

const isAccepted = (fields: object): boolean =>
  videoRequestSchema.safeParse({ model: 'v-1', prompt: 'a cat', ...fields }).success;
const withImage = (bytes: number, mime_type = 'image/png'): object => ({
  images: [{ data_base64: Buffer.alloc(bytes, 1).toString('base64'), mime_type }],
});

test.each([
  { why: 'an image of exactly the limit', fields: withImage(IMAGE_BYTES_MAX), accepted: true },
  { why: 'an image of a byte more', fields: withImage(IMAGE_BYTES_MAX + 1), accepted: false },
  { why: 'an image of one byte', fields: withImage(1), accepted: true },
  { why: 'an image without bytes', fields: withImage(0), accepted: false },
  { why: 'a drawing', fields: withImage(3, 'image/svg+xml'), accepted: true },
  { why: 'a type in capitals', fields: withImage(3, 'IMAGE/PNG'), accepted: true },
  { why: 'no type', fields: withImage(3, 'image/'), accepted: false },
  { why: 'another type', fields: withImage(3, 'video/mp4'), accepted: false },
  {
    why: 'a data URL',
    fields: { images: [{ data_base64: 'data:image/png;base64,AAAA', mime_type: 'image/png' }] },
    accepted: false,
  },
  {
    why: 'an incomplete base64 text',
    fields: { images: [{ data_base64: 'AAA', mime_type: 'image/png' }] },
    accepted: false,
  },
  { why: 'the least', fields: { duration_seconds: 1, width: 64, height: 64 }, accepted: true },
  { why: 'the most', fields: { duration_seconds: 60, width: 4096, height: 4096 }, accepted: true },
  { why: 'frames', fields: { extra: { frames: 81 } }, accepted: true },
  { why: 'no frames', fields: { extra: { frames: null } }, accepted: true },
  { why: 'frames as a text', fields: { extra: { frames: '81' } }, accepted: false },
  { why: 'unknown fields', fields: { unknown: true }, accepted: true },
])('a request with $why is accepted: $accepted', ({ fields, accepted }) => {
  expect(isAccepted(fields)).toBe(accepted);
});

test('null means the same as an omitted field', () => {
  const nulls = { negative_prompt: null, images: null, duration_seconds: null, extra: null };
  const parsed = videoRequestSchema.parse({ model: 'v-1', prompt: 'a cat', ...nulls });
  expect(JSON.parse(JSON.stringify(parsed))).toEqual({ model: 'v-1', prompt: 'a cat' });
});
