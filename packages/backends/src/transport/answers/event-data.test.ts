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
