import { createJsonMeter } from './json-meter.ts';

const MEBIBYTE = 1024 * 1024;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const isCheap = (text: string): boolean => createJsonMeter().add(bytesOf(text));
const repeated = (element: string): string =>
  `[${Array.from({ length: (8 * MEBIBYTE) / element.length }, () => element).join(',')}]`;
const fields = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"field${index}":0`).join(',')}}`;

test.each([
  ['long strings', JSON.stringify(['a"\\'.repeat(2 * MEBIBYTE), 'b,:[{'.repeat(MEBIBYTE)])],
  ['a million numbers', `[${'7,'.repeat(MEBIBYTE)}7]`],
  [
    '10,000 messages with two parts',
    JSON.stringify(
      Array.from({ length: 10_000 }, () => ({
        role: 'user',
        content: [{ type: 'text', text: 'hello' }],
      })),
    ),
  ],
  ['1,000 levels', '['.repeat(1_000) + ']'.repeat(1_000)],
])('%s may be parsed', (_what, text) => {
  expect(isCheap(text)).toBe(true);
});

test.each([
  ['empty objects', repeated('{}')],
  ['empty arrays', repeated('[]')],
  ['strings', repeated('"a"')],
  ['numbers', repeated('0')],
  ['field names', fields(150_000)],
  ['levels', '['.repeat(1_001)],
])('too many %s are found before they are parsed', (_what, text) => {
  expect(isCheap(text)).toBe(false);
});

test('what is inside of strings costs nothing, wherever the bytes are divided', () => {
  const text = JSON.stringify(['[{"a":1}]', '\\', '"', '\\"', '\\\\', 'é"[\\']);
  const bytes = bytesOf(text + '['.repeat(999));
  for (let at = 0; at < bytes.length; at += 1) {
    const meter = createJsonMeter();
    expect(meter.add(bytes.subarray(0, at)) && meter.add(bytes.subarray(at))).toBe(true);
    expect(meter.add(bytesOf('[['))).toBe(false);
  }
});
