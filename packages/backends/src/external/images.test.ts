import { withImageParts } from './images.ts';

const part = (url: string) => ({ type: 'image_url', image_url: { url } });

test.each([
  { image: 'AAAA', url: 'data:image/png;base64,AAAA' },
  { image: 'data:image/gif;base64,BBBB', url: 'data:image/gif;base64,BBBB' },
  { image: { data: 'CCCC', media_type: 'image/jpeg' }, url: 'data:image/jpeg;base64,CCCC' },
  { image: { data_base64: 'DDDD', mime_type: 'image/webp' }, url: 'data:image/webp;base64,DDDD' },
  { image: { ...part('data:image/png;base64,EEEE'), index: 0 }, url: 'data:image/png;base64,EEEE' },
])('the image $image becomes a content part', ({ image, url }) => {
  expect(withImageParts({ role: 'user', content: 'look', images: [image] })).toEqual({
    role: 'user',
    content: [{ type: 'text', text: 'look' }, part(url)],
  });
});

test('content parts that are there already stay', () => {
  const text = { type: 'text', text: 'look' };
  expect(withImageParts({ role: 'user', content: [text], images: ['AAAA'] })).toEqual({
    role: 'user',
    content: [text, part('data:image/png;base64,AAAA')],
  });
});

test('a message without images is the same message', () => {
  const message = { role: 'user', content: 'hello', tool_calls: [] };
  expect(withImageParts(message)).toBe(message);
});
