import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { FormError, isUploadedFile, readForm } from './form.ts';

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

test('an upload is the same however its bytes are cut', async () => {
  const contents = 'RIFF\r\n--b-2\r\n--b-\r\n\r\n--';
  const body = Buffer.from(
    `preamble\r\n${field('model', 'm')}${file(contents)}${field('empty', '')}--b-1--\r\nepilogue`,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(body.length), { maxLength: 12 }), async (cuts) => {
      const places = [0, ...cuts.toSorted((left, right) => left - right), body.length];
      const pieces = places.slice(1).map((end, index) => body.subarray(places[index], end));
      const { fields, bytes } = await read(pieces.filter(({ length }) => length > 0));
      expect(bytes).toBe(body.length);
      expect(fields).toEqual({
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
    { numRuns: 100 },
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
  const { fields } = await read(pieces);
  const uploaded = isUploadedFile(fields.file) ? fields.file : undefined;
  expect(uploaded?.bytes).toBe(100 * megabyte.length);
  // The pool of buffers of Node 24 is 64 KiB.
  expect(uploaded?.head.buffer.byteLength).toBeLessThanOrEqual(64 * 1024);
});

test.each([
  ['no boundary', 'multipart/form-data', '--b-1--'],
  ['no end', TYPE, field('model', 'm')],
  ['a part without a name', TYPE, `${part('content-disposition: form-data', 'x')}--b-1--`],
  ['endless headers', TYPE, `--b-1\r\n${'x'.repeat(20_000)}`],
  ['a text that is too long', TYPE, `${field('model', 'x'.repeat(2 ** 20 + 1))}--b-1--`],
  ['too many parts', TYPE, `${field('a', '').repeat(1_001)}--b-1--`],
])('an upload with %s is refused', async (_, type, body) => {
  await expect(read([Buffer.from(body)], type)).rejects.toThrow(FormError);
});
