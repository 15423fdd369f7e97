import * as fc from 'fast-check';

const NAMES = ['model', 'models', 'models[]', 'provider', 'file', 'language', 'response_format'];
const VALUES = [
  '{{model}}',
  'fuzz-local',
  '["{{model}}","fuzz-local"]',
  '{"order":["external"],"allow_fallbacks":false}',
  'verbose_json',
  '{"__proto__":{"polluted":true}}',
  '',
  '\u0000',
];
const WAV = 'RIFF\u0000\u0000\u0000\u0000WAVEfmt \u0010\u0000\u0000\u0000\u0001\u0000';

const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', '', '"', '\\"', '\u0000', 'a'.repeat(300)) },
);
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 70_000 }).map((count) => 'a'.repeat(count)) },
);
const fileName = fc.oneof(
  fc.constantFrom('a.mp3', '../../a.wav', 'a"b.mp3', "a'; filename*=utf-8''%ff", '\u0000', ''),
  fc.string(),
);
const content = fc.oneof(
  fc.constantFrom('', WAV, `${WAV}\u007f\u007f`, '--', '\r\n--', '\r\n\r\n'),
  fc.integer({ min: 1, max: 20_000 }).map((count) => 'a'.repeat(count)),
);
const type = fc.constantFrom(
  'audio/mpeg',
  'text/plain; charset=utf-7',
  'multipart/mixed',
  '\u00ff',
  '',
);

const disposition = (fields: string): string => `content-disposition: form-data; ${fields}`;
const fieldPart = fc
  .tuple(name, value)
  .map(([of, text]) => [disposition(`name="${of}"`), text] as const);
const filePart = fc
  .tuple(name, fileName, type, content)
  .map(
    ([of, file, kind, bytes]) =>
      [
        `${disposition(`name="${of}"; filename="${file}"`)}\r\ncontent-type: ${kind}`,
        bytes,
      ] as const,
  );
const oddPart = fc.constantFrom(
  ['', 'no headers'] as const,
  ['content-disposition: attachment', 'not a field'] as const,
  [`${disposition('name="a"')}\r\ncontent-transfer-encoding: base64`, '%%%'] as const,
  [`${disposition('name="a"')}${'\r\nx: 1'.repeat(200)}`, 'many headers'] as const,
  [disposition(`name="a"${'; a=b'.repeat(500)}`), 'many parameters'] as const,
);
const MODEL_PART = [disposition('name="model"'), '{{model}}'] as const;
const FILE_PART = [disposition('name="file"; filename="a.mp3"'), 'the audio'] as const;
const parts = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom([MODEL_PART, FILE_PART], [FILE_PART, MODEL_PART]) },
  {
    weight: 4,
    arbitrary: fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fieldPart },
        { weight: 2, arbitrary: filePart },
        { weight: 1, arbitrary: oddPart },
        { weight: 2, arbitrary: fc.constantFrom(MODEL_PART, FILE_PART) },
      ),
      { maxLength: 6 },
    ),
  },
);

const FORM_BOUNDARY = 'form-of-the-fuzzer';

/** A multipart form, whole or cut off. */
export const formBody: fc.Arbitrary<string> = fc
  .tuple(
    parts,
    fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'),
    fc.constantFrom(
      `--${FORM_BOUNDARY}--\r\n`,
      `--${FORM_BOUNDARY}--\r\n`,
      `--${FORM_BOUNDARY}--`,
      '',
    ),
    fc.constantFrom('', '', '', 'before', '\r\n'),
  )
  .map(
    ([all, lineEnd, end, before]) =>
      before +
      all
        .map(([head, text]) => `--${FORM_BOUNDARY}\r\n${head}\r\n\r\n${text}\r\n`)
        .join('')
        .replaceAll('\r\n', lineEnd) +
      end,
  );

/** Mostly the type of the form; sometimes one that does not fit it. */
export const formType: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(`multipart/form-data; boundary=${FORM_BOUNDARY}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      `multipart/form-data; boundary="${FORM_BOUNDARY}"`,
      `MULTIPART/FORM-DATA; charset=x; boundary=${FORM_BOUNDARY}`,
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=-',
      `multipart/form-data; boundary=${'b'.repeat(5000)}`,
      `multipart/form-data${'; a=b'.repeat(200)}; boundary=${FORM_BOUNDARY}`,
      'multipart/form-data',
      'multipart/mixed; boundary=x',
      'application/json',
    ),
  },
);
