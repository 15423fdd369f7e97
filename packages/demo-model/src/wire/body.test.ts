import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { BodyError, isUploadedFile, readForm } from './body.ts';

const TYPE = 'multipart/form-data; boundary="b-1"';
const part = (headers: string, body: string): string => `--b-1\r\n${headers}\r\n\r\n${body}\r\n`;
const field = (name: string, body: string): string =>
  part(`Content-Disposition: form-data; name="${name}"`, body);
const file = (body: string): string =>
  part(
    'content-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav',
    body,
  );
const read = (pieces: readonly Buffer[], type = TYPE) => readForm(type, Readable.from(pieces));

test('a form is the same however its bytes are cut', async () => {
  const contents = 'RIFF\r\n--b-2\r\n--b-\r\n\r\n--';
  const whole = Buffer.from(`${field('model', 'm')}${file(contents)}${field('empty', '')}--b-1--`);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 12 }), async (cuts) => {
      const places = [0, ...cuts.toSorted((left, right) => left - right), whole.length];
      const pieces = places.slice(1).map((end, index) => whole.subarray(places[index], end));
      const { body, bytes } = await read(pieces.filter(({ length }) => length > 0));
      expect(bytes).toBe(whole.length);
      expect(body).toEqual({
        model: 'm',
        file: {
          filename: 'a.wav',
          contentType: 'audio/wav',
          bytes: contents.length,
          head: Buffer.from(contents),
        },
        empty: '',
      });
    }),
    { numRuns: 30 },
  );
});

test('of a large file only the beginning is kept', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const [before, after] = file('|').split('|');
  const pieces = [
    Buffer.from(before ?? ''),
    ...Array.from({ length: 100 }, () => megabyte),
    Buffer.from(`${after}--b-1--`),
  ];
  const { body } = await read(pieces);
  const uploaded = (body as { readonly file: unknown }).file;
  expect(isUploadedFile(uploaded) && uploaded.bytes).toBe(100 * megabyte.length);
  expect(isUploadedFile(uploaded) && uploaded.head.length).toBe(4 * 1024);
});

test.each([
  ['no boundary', 'multipart/form-data', '--b-1--'],
  ['no end', TYPE, field('model', 'm')],
  ['a text that is too long', TYPE, `${field('model', 'x'.repeat(2 ** 20 + 1))}--b-1--`],
  ['too many parts', TYPE, `${field('a', '').repeat(1_001)}--b-1--`],
])('a form with %s is refused', async (_, type, body) => {
  await expect(read([Buffer.from(body)], type)).rejects.toThrow(BodyError);
});
