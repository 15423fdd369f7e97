import { once } from 'node:events';
import { FormParser } from './form-parser.ts';

const formOf = (boundary: string, padding = ''): string =>
  [
    `--${boundary}${padding}`,
    'content-disposition: form-data; name="model"',
    '',
    `m\r\n--${boundary.slice(0, -1)} no boundary`,
    `--${boundary}${padding}`,
    'content-disposition: form-data; name="file"; filename="a.wav"',
    '',
    '\r\n bytes \r',
    `--${boundary}--${padding}`,
    '',
  ].join('\r\n');

/** The values of the parts of a form that arrives in pieces. */
async function parse(contentType: string, form: string, pieceBytes: number) {
  const parser = new FormParser(contentType, {});
  const values: Record<string, string> = {};
  parser.on('field', (name, value) => void (values[name] = value));
  parser.on('file', (name, stream) => {
    values[name] = '';
    stream.on('data', (chunk: Buffer) => void (values[name] += chunk.toString()));
  });
  const finished = once(parser, 'finish');
  const bytes = Buffer.from(form);
  for (let at = 0; at < bytes.length; at += pieceBytes)
    parser.write(bytes.subarray(at, at + pieceBytes));
  parser.end();
  await finished;
  return values;
}

const FORM = 'multipart/form-data; boundary=';

test.each([
  { why: 'plain', type: `${FORM}abc`, boundary: 'abc' },
  { why: 'followed by spaces', type: `${FORM}abc`, boundary: 'abc', padding: ' \t ' },
  { why: 'quoted', type: `${FORM}"a b:c=?"; charset=utf-8`, boundary: 'a b:c=?' },
  { why: 'quoted, followed by spaces', type: `${FORM}"a;b"`, boundary: 'a;b', padding: '  ' },
  { why: 'quoted with characters to escape', type: `${FORM}"a\\"b"`, boundary: 'a"b' },
  { why: 'quoted with a space at its end', type: `${FORM}"abc "`, boundary: 'abc' },
  { why: 'with a space before the semicolon', type: `${FORM}abc ; charset=utf-8`, boundary: 'abc' },
])('a boundary that is $why', async ({ type, boundary, padding = '' }) => {
  const form = formOf(boundary, padding);
  const expected = {
    model: `m\r\n--${boundary.slice(0, -1)} no boundary`,
    file: '\r\n bytes \r',
  };
  for (const pieceBytes of [1, 2, 3, 7, form.length])
    expect(await parse(type, form, pieceBytes)).toEqual(expected);
});

test.each(['multipart/form-data', FORM, `${FORM}""`, `${FORM}" "`])(
  'a form without a boundary is refused: %s',
  (type) => expect(() => new FormParser(type, {})).toThrow('no boundary'),
);
