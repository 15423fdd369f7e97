import * as fc from 'fast-check';

const BOUNDARY = 'form-of-the-fuzzer';
const WAV = 'RIFF\u0000\u0000\u0000\u0000WAVEfmt \u0010\u0000\u0000\u0000\u0001\u0000';

const letters = (max: number): fc.Arbitrary<string> =>
  fc.integer({ min: 1, max }).map((count) => 'a'.repeat(count));
const field = (rest: string): string => `content-disposition: form-data; ${rest}`;
const MODEL = [field('name="model"'), '{{model}}'] as const;
const FILE = [field('name="file"; filename="a.mp3"'), 'the audio'] as const;

const name = fc.constantFrom(
  'model',
  'models',
  'models[]',
  'provider',
  'file',
  'language',
  'response_format',
  '__proto__',
  '',
  '"',
  '\\"',
  '\u0000',
  'a'.repeat(300),
);
const value = fc.oneof(
  fc.constantFrom(
    '{{model}}',
    'fuzz-local',
    '["{{model}}","fuzz-local"]',
    'verbose_json',
    '',
    '\u0000',
    '{"order":["external"],"allow_fallbacks":false}',
    '{"__proto__":{"polluted":true}}',
  ),
  fc.string(),
  letters(70_000),
);
const fileName = fc.oneof(
  fc.constantFrom('a.mp3', '../../a.wav', 'a"b.mp3', "a'; filename*=utf-8''%ff", '\u0000', ''),
  fc.string(),
);
const type = fc.constantFrom(
  'audio/mpeg',
  'text/plain; charset=utf-7',
  'multipart/mixed',
  '\u00ff',
  '',
);
const content = fc.oneof(
  fc.constantFrom('', WAV, `${WAV}\u007f\u007f`, '--', '\r\n--', '\r\n\r\n'),
  letters(20_000),
);
type Part = readonly [head: string, text: string];
const part: fc.Arbitrary<Part> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(
      name.map((of) => field(`name="${of}"`)),
      value,
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(name, fileName, type, content)
      .map(
        ([of, file, kind, text]) =>
          [`${field(`name="${of}"; filename="${file}"`)}\r\ncontent-type: ${kind}`, text] as const,
      ),
  },
  { weight: 3, arbitrary: fc.constantFrom(MODEL, FILE) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ['', 'no headers'] as const,
      ['content-disposition: attachment', 'not a field'] as const,
      [`${field('name="a"')}\r\ncontent-transfer-encoding: base64`, '%%%'] as const,
      [`${field('name="a"')}${'\r\nx: 1'.repeat(200)}`, 'many headers'] as const,
      [field(`name="a"${'; a=b'.repeat(500)}`), 'many parameters'] as const,
    ),
  },
);

const parts = fc.oneof<fc.WeightedArbitrary<readonly Part[]>[]>(
  { weight: 1, arbitrary: fc.constantFrom([MODEL, FILE], [FILE, MODEL]) },
  { weight: 4, arbitrary: fc.array(part, { maxLength: 6 }) },
);

/** A multipart form, whole or cut off. */
export const formBody: fc.Arbitrary<string> = fc
  .record({
    parts,
    lineEnd: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'),
    end: fc.constantFrom(`--${BOUNDARY}--\r\n`, `--${BOUNDARY}--\r\n`, `--${BOUNDARY}--`, ''),
    before: fc.constantFrom('', '', '', 'before', '\r\n'),
  })
  .map(({ parts: all, lineEnd, end, before }) => {
    const texts = all.map(([head, text]) => `--${BOUNDARY}\r\n${head}\r\n\r\n${text}\r\n`);
    return before + texts.join('').replaceAll('\r\n', lineEnd) + end;
  });

/** Mostly the type of the form; sometimes one that does not fit it. */
export const formType: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(`multipart/form-data; boundary=${BOUNDARY}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      `multipart/form-data; boundary="${BOUNDARY}"`,
      `MULTIPART/FORM-DATA; charset=x; boundary=${BOUNDARY}`,
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=-',
      `multipart/form-data; boundary=${'b'.repeat(5000)}`,
      `multipart/form-data${'; a=b'.repeat(200)}; boundary=${BOUNDARY}`,
      'multipart/form-data',
      'multipart/mixed; boundary=x',
      'application/json',
    ),
  },
);
