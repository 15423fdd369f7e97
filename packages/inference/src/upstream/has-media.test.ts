import { hasMedia } from './has-media.ts';

test.each([
  { why: 'texts', parts: [{ role: 'user', content: 'Hi' }], expected: false },
  {
    why: 'parts that are texts',
    parts: [{ role: 'user', content: [{ type: 'text', text: 'an image_url' }] }],
    expected: false,
  },
  {
    why: 'an image',
    parts: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }],
    expected: true,
  },
  {
    why: 'an image beside the text',
    parts: [{ role: 'user', content: 'Hi', images: ['AAAA'] }],
    expected: true,
  },
  { why: 'no image beside the text', parts: [{ content: 'Hi', images: [] }], expected: false },
  {
    why: 'audio',
    parts: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }],
    expected: true,
  },
  {
    why: 'a file in the result of a tool',
    parts: [{ content: [{ type: 'tool_result', content: [{ type: 'file', file: {} }] }] }],
    expected: true,
  },
  { why: 'an input that is a text', parts: 'image_url', expected: false },
  { why: 'the parts of a moderation', parts: [{ type: 'image_url' }], expected: true },
])('media among $why: $expected', ({ parts, expected }) => {
  expect(hasMedia(parts)).toBe(expected);
});
