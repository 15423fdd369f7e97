import * as fc from 'fast-check';
import { createEventSplitter } from './event-splitter.ts';

function split(chunks: readonly Buffer[]): Buffer[] {
  const splitter = createEventSplitter();
  return [...chunks.map((chunk) => splitter.push(chunk)), splitter.rest()].filter(
    ({ length }) => length > 0,
  );
}

test('whole events pass as they are', () => {
  const chunk = Buffer.from('data: 1\n\ndata: 2\n\n');
  expect(createEventSplitter().push(chunk)).toEqual(chunk);
});

test('an event waits for its end, also when the end comes in two halves', () => {
  const splitter = createEventSplitter();
  expect(splitter.push(Buffer.from('data: 1\n')).toString()).toBe('');
  expect(splitter.push(Buffer.from('\ndata: 2')).toString()).toBe('data: 1\n\n');
  expect(splitter.push(Buffer.from('\n\n')).toString()).toBe('data: 2\n\n');
});

test('returns before newlines are dropped', () => {
  expect(createEventSplitter().push(Buffer.from('data: é\r\n\r\n')).toString()).toBe('data: é\n\n');
  expect(
    Buffer.concat(
      split([...Buffer.from('data: é\r\n\r\n')].map((byte) => Buffer.from([byte]))),
    ).toString(),
  ).toBe('data: é\n\n');
});

test('a return alone ends a line', () => {
  const text = 'data: 1\r\rdata: 2\r\r: comment\rdata: 3\n\n';
  const whole = Buffer.concat(split([...Buffer.from(text)].map((byte) => Buffer.from([byte]))));
  expect(whole.toString()).toBe('data: 1\n\ndata: 2\n\n: comment\ndata: 3\n\n');
});

test('an event that never ends is refused before it takes the memory', () => {
  const splitter = createEventSplitter();
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  expect(() => {
    for (let count = 0; count < 20; count += 1) splitter.push(megabyte);
  }).toThrow('too large');
});

test('whatever the pieces, nothing is lost and no event is cut', () => {
  const text = fc.array(
    fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll(/[\r\n]/g, '')),
  );
  fc.assert(
    fc.property(text, fc.array(fc.nat(30)), (lines, sizes) => {
      const whole = Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(''));
      const chunks: Buffer[] = [];
      let at = 0;
      for (const size of sizes) chunks.push(whole.subarray(at, (at += size + 1)));
      chunks.push(whole.subarray(at));
      const parts = split(chunks.filter(({ length }) => length > 0));
      expect(Buffer.concat(parts)).toEqual(whole);
      for (const part of parts) expect(part.toString().endsWith('\n\n')).toBe(true);
    }),
  );
});
