import * as fc from 'fast-check';
import { cacheKey, type AnswerFacts } from './cache-key.ts';

interface AskedFacts extends AnswerFacts {
  readonly body: unknown;
}

const keyOf = ({ body: value, ...others }: AskedFacts) => cacheKey(others, value);

const json = fc.jsonValue({ maxDepth: 4 });
const body = fc.dictionary(fc.string(), json);
const target = fc.record({
  model: fc.string(),
  backend: fc.option(fc.string(), { nil: undefined }),
  priority: fc.nat(3),
  weight: fc.nat(3),
});
const facts: fc.Arbitrary<AskedFacts> = fc.record({
  tenant: fc.string(),
  path: fc.constantFrom('/v1/chat/completions', '/v1/embeddings'),
  model: fc.string(),
  resolvedModel: fc.string(),
  targets: fc.option(fc.array(target, { maxLength: 2 }), { nil: undefined }),
  fallbacks: fc.array(
    fc.record({
      model: fc.string(),
      resolvedModel: fc.string(),
      targets: fc.option(fc.array(target, { maxLength: 2 }), { nil: undefined }),
    }),
    { maxLength: 2 },
  ),
  headers: fc.array(fc.option(fc.string(), { nil: undefined }), { maxLength: 2 }),
  body,
});

/** As an upstream would get it: what is equal there may have one key. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

/** The same value, with the fields of every object in the other order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, inner]) => [name, reversed(inner)]),
  );
}

const isEqual = (one: unknown, other: unknown): boolean => {
  try {
    expect(sent(one)).toStrictEqual(sent(other));
    return true;
  } catch {
    return false;
  }
};

test('two requests have one key only if everything about them is equal', () => {
  fc.assert(
    fc.property(
      facts,
      facts,
      fc.subarray(Object.keys(fc.sample(facts, 1)[0] ?? {})),
      (one, two, same) => {
        // Alike in some of the facts, as two requests of one user are.
        const other = {
          ...two,
          ...Object.fromEntries(same.map((name) => [name, Reflect.get(one, name)])),
        };
        expect(keyOf(one) === keyOf(other)).toBe(isEqual(one, other));
      },
    ),
  );
});

test('a body that is compared again has the key that a new one has', () => {
  fc.assert(
    fc.property(facts, fc.array(facts, { maxLength: 3 }), ({ body: value }, asked) => {
      const compared = { value, last: undefined };
      for (const { body: _, ...others } of [...asked, ...asked.toReversed()])
        expect(cacheKey(others, compared)).toBe(cacheKey(others, { value, last: undefined }));
    }),
  );
});

test('one change anywhere in a body changes its key', () => {
  fc.assert(
    fc.property(facts, fc.string(), json, (one, name, value) => {
      const other = { ...one, body: { ...(one.body as object), [name]: value } };
      expect(keyOf(one) === keyOf(other)).toBe(isEqual(one, other));
    }),
  );
});

test('the order of fields does not matter, that of lists does', () => {
  fc.assert(
    fc.property(facts, (one) => {
      expect(keyOf({ ...one, body: reversed(one.body) })).toBe(keyOf(one));
    }),
  );
  const asked = { tenant: 't', path: '/', model: 'm', resolvedModel: 'm', targets: undefined };
  const keyOfText = (text: string) =>
    keyOf({ ...asked, fallbacks: [], headers: [], body: JSON.parse(text) });
  expect(keyOfText('{"a":[1,2]}')).not.toBe(keyOfText('{"a":[2,1]}'));
  expect(keyOfText('{"a":1}')).not.toBe(keyOfText('{"a":"1"}'));
  expect(keyOfText('{"a":null}')).not.toBe(keyOfText('{}'));
  expect(keyOfText('{"__proto__":{"a":1}}')).not.toBe(keyOfText('{}'));
  expect(keyOfText('{"a":{"b":1}}')).not.toBe(keyOfText('{"a":{},"b":1}'));
  expect(keyOfText(`${'['.repeat(200)}${']'.repeat(200)}`)).toBeUndefined();
});
