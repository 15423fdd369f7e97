import * as fc from 'fast-check';
import { createTopFields } from './top-fields.ts';

const WANTED = ['usage', 'text'];

function read(json: string, cuts: readonly number[]): unknown {
  const bytes = Buffer.from(json);
  const fields = createTopFields(WANTED);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    fields.add(bytes.subarray(from, end));
    from = end;
  }
  return fields.fields;
}

/** What parsing the whole text gives. */
function parsed(json: string): unknown {
  const value = JSON.parse(json) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(value).filter(([name]) => WANTED.includes(name)));
}

const key = fc.oneof(fc.constantFrom(...WANTED, 'data', '__proto'), fc.string());
const answer = fc.dictionary(key, fc.jsonValue({ noUnicodeString: false }));

test('the fields are those of the parsed object, in whatever chunks it arrives', () => {
  fc.assert(
    fc.property(
      answer,
      fc.array(fc.nat(), { maxLength: 5 }),
      fc.constantFrom(undefined, 2),
      (object, cuts, indent) => {
        const json = JSON.stringify(object, undefined, indent);
        expect(read(json, cuts)).toEqual(parsed(json));
      },
    ),
  );
});

test.each([
  {
    what: 'escaped quotes and backslashes',
    json: String.raw`{"x":"\\\"usage\":1,\\","usage":{"a":"\"}"}}`,
  },
  {
    what: 'the names inside of other values',
    json: '{"data":[{"usage":1}],"x":{"text":"no"},"text":"yes"}',
  },
  { what: 'a name as a value', json: '{"x":"usage","text":null}' },
])('$what do not confuse it, cut anywhere', ({ json }) => {
  for (let cut = 0; cut <= json.length; cut += 1) expect(read(json, [cut])).toEqual(parsed(json));
});

test('a value that is too long is left out, and those after it are read', () => {
  const json = JSON.stringify({ text: 'a'.repeat(2 * 1024 * 1024), usage: { total_tokens: 1 } });
  expect(read(json, [5, 1_500_000])).toEqual({ usage: { total_tokens: 1 } });
});

test.each(['', '[', '["usage",{"usage":1}]', '{"usage":', 'usage'])('%s has no fields', (json) => {
  expect(read(json, [])).toEqual({});
});
