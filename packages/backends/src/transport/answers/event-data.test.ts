import * as fc from 'fast-check';
import { bodyLines } from './body-lines.ts';
import { eventData } from './event-data.ts';

const BODY = Buffer.from(
  ': hello\r\n\r\nevent: a\ndata: {"text":"Grüße 🙂"}\n\ndate: no\nid: 1\ndata:{"n":2}\r\n\r\ndata: last',
);

async function* cutAt(places: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const end of [...places.toSorted((one, other) => one - other), BODY.length]) {
    yield new Uint8Array(BODY.subarray(start, end));
    start = end;
  }
}

async function all(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const read: string[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

test('any cut of a body gives the same data and lines', async () => {
  const places = fc.array(fc.nat({ max: BODY.length }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(places, async (cuts) => {
      expect(await all(eventData(cutAt(cuts)))).toEqual(['{"text":"Grüße 🙂"}', '{"n":2}', 'last']);
      expect(await all(bodyLines(cutAt(cuts), { lineBytesMax: 1_000 }))).toEqual([
        ': hello',
        'event: a',
        'data: {"text":"Grüße 🙂"}',
        'date: no',
        'id: 1',
        'data:{"n":2}',
        'data: last',
      ]);
    }),
  );
});

test.each([[[]], [[40]], [[30, 35, 41, 42]]])(
  'a line that is too long is refused, with cuts at %j',
  async (cuts) => {
    await expect(all(eventData(cutAt(cuts), { lineBytesMax: 20 }))).rejects.toThrow(
      'a line of more than 20 bytes',
    );
  },
);

test.each([
  {
    what: 'JSON of several lines',
    body: 'data: {\ndata:  "a": 1\ndata: }\n\n',
    events: ['{\n "a": 1\n}'],
  },
  {
    what: 'events without an empty line between them',
    body: 'data: {"a":1}\ndata: {"a":2}\ndata: [DONE]\n',
    events: ['{"a":1}', '{"a":2}', '[DONE]'],
  },
  { what: 'a mark of the byte order', body: '\uFEFFdata: {"a":1}\n\n', events: ['{"a":1}'] },
  { what: 'spaces around', body: 'data:   {"a":1} \n\n', events: ['{"a":1}'] },
  {
    what: 'fields without data',
    body: 'event: ping\n\ndata\n\ndata:\n\nretry: soon\n\n',
    events: [],
  },
  {
    what: 'the end in the middle of a line',
    body: 'data: {"a":1}\n\ndata: {"a"',
    events: ['{"a":1}', '{"a"'],
  },
])('a body with $what', async ({ body, events }) => {
  const bytes = new TextEncoder().encode(body);
  async function* split(size: number) {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  for (const size of [1, 7, bytes.length])
    expect(await all(eventData(split(size)))).toEqual(events);
});

test.each([
  {
    what: 'too long in bytes, not in characters',
    body: `data: "${'ü'.repeat(12)}"\n\n`,
    message: 'a line of more than 20 bytes',
  },
  { what: 'without end', body: `data: ${'x'.repeat(30)}`, message: 'a line of more than 20 bytes' },
])('an event that is $what is refused', async ({ body, message }) => {
  async function* whole() {
    yield new TextEncoder().encode(body);
  }
  await expect(all(eventData(whole(), { lineBytesMax: 20 }))).rejects.toThrow(message);
});

test('an event with too many values is refused', async () => {
  async function* whole() {
    yield new TextEncoder().encode(`data: [${'{},'.repeat(1024 * 1024)}{}]\n\n`);
  }
  await expect(all(eventData(whole()))).rejects.toThrow('an event with too many values');
});
