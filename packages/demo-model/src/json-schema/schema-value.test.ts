import { isIPv4, isIPv6 } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { schemaValue } from './schema-value.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isValid = (schema: object, value: unknown): boolean => ajv.validate({ ...schema }, value);

type Schema = Record<string, unknown>;
const scalar: fc.Arbitrary<Schema> = fc.oneof(
  fc.record({ type: fc.constant('string') }),
  fc
    .tuple(fc.nat(12), fc.nat(12))
    .map(([least, more]) => ({ type: 'string', minLength: least, maxLength: least + more })),
  fc
    .tuple(fc.integer({ min: -50, max: 50 }), fc.nat(20))
    .map(([least, more]) => ({ type: 'integer', minimum: least, maximum: least + more })),
  fc
    .tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 1, max: 9 }))
    .map(([least, more]) => ({
      type: 'number',
      exclusiveMinimum: least,
      exclusiveMaximum: least + more / 4,
    })),
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: -20, max: 20 }))
    .map(([multipleOf, minimum]) => ({ type: 'integer', multipleOf, minimum })),
  fc.constantFrom<Schema>(
    { type: 'boolean' },
    { type: 'null' },
    { type: ['string', 'null'] },
    { enum: ['celsius', 'kelvin'] },
    { const: { kind: 'exact', list: [1, 2] } },
    {},
  ),
);
const { schema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc
      .tuple(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), tie('schema')), fc.boolean())
      .map(([properties, isClosed]) => ({
        type: 'object',
        properties,
        required: Object.keys(properties).filter((_, index) => index % 2 === 0),
        ...(isClosed ? { additionalProperties: false } : { minProperties: 2 }),
      })),
    fc.tuple(tie('schema'), fc.nat(3), fc.nat(3)).map(([items, minItems, more]) => ({
      type: 'array',
      items,
      minItems,
      maxItems: minItems + more,
    })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    tie('schema').map((inner) => ({ $defs: { inner }, allOf: [{ anyOf: [inner] }] })),
    fc.tuple(tie('schema'), tie('schema')).map(([left, right]) => ({
      allOf: [
        { type: 'object', properties: { left }, required: ['left'] },
        { properties: { right }, required: ['right'] },
      ],
    })),
    fc.array(tie('schema'), { minLength: 2, maxLength: 3 }).map((inners) => ({
      oneOf: inners.map((inner, kind) => ({
        type: 'object',
        properties: { kind: { const: kind }, inner },
        required: ['kind', 'inner'],
      })),
    })),
  ),
}));

test('a generated value satisfies any schema, with and without its optional properties', () => {
  fc.assert(
    fc.property(schema, fc.boolean(), (given, withOptional) => {
      const value = schemaValue(given, { withOptional });
      expect(isValid(given, JSON.parse(JSON.stringify(value)))).toBe(true);
      expect(schemaValue(given, { withOptional })).toEqual(value);
    }),
    { numRuns: 100 },
  );
});

test.each<[string, Schema]>([
  [
    'different elements',
    { type: 'array', minItems: 5, uniqueItems: true, items: { type: 'string' } },
  ],
  ['different choices', { type: 'array', minItems: 2, uniqueItems: true, items: { enum: [1, 2] } }],
  ['a tuple', { type: 'array', prefixItems: [{ const: 'x' }, { type: 'integer' }], minItems: 2 }],
  [
    'one of two properties',
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
  ],
  [
    'an element like a property',
    {
      type: 'object',
      properties: { first: { $ref: '#/$defs/a~1b' } },
      required: ['first'],
      $defs: { 'a/b': { type: 'string', minLength: 20 } },
    },
  ],
  [
    'a list that refers to itself',
    {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            value: { type: 'number' },
            next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
          },
          required: ['value', 'next'],
          additionalProperties: false,
        },
      },
    },
  ],
  [
    'a tree that refers to itself',
    {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } } },
      required: ['children'],
    },
  ],
])('a generated value has %s', (_, given) => {
  for (const withOptional of [true, false])
    expect([given, isValid(given, schemaValue(given, { withOptional }))]).toEqual([given, true]);
});

test.each([
  ['date', (text: string) => new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)],
  ['date-time', (text: string) => !Number.isNaN(Date.parse(text))],
  ['uri', (text: string) => URL.canParse(text)],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['email', (text: string) => text.includes('@')],
  ['uuid', (text: string) => /^[\da-f-]{36}$/.test(text)],
])('texts of the format %s have it, and differ', (format, isOfFormat) => {
  const list = schemaValue({
    type: 'array',
    minItems: 3,
    uniqueItems: true,
    items: { type: 'string', format },
  });
  expect((list as string[]).every((text) => isOfFormat(text))).toBe(true);
  expect(new Set(list as string[]).size).toBe(3);
});

test.each<[string, unknown]>([
  [
    'a pattern that would block a process',
    { type: 'string', pattern: '^(((a+)+)+)+$', minLength: 5_000 },
  ],
  [
    'a pattern with a huge repetition',
    { type: 'string', pattern: '^((((a{9999}){9999}){9999}){9999})$' },
  ],
  ['references that double', { $ref: '#/a', a: { allOf: [{ $ref: '#/a' }, { $ref: '#/a' }] } }],
  [
    'branches that double',
    {
      $ref: '#/a',
      a: {
        type: 'object',
        required: ['x', 'y'],
        properties: { x: { $ref: '#/a' }, y: { $ref: '#/a' } },
      },
    },
  ],
  [
    'a million elements of a thousand properties',
    {
      type: 'array',
      minItems: 1_000_000,
      items: {
        properties: Object.fromEntries(
          Array.from({ length: 1_000 }, (_, index) => [`p${index}`, {}]),
        ),
      },
    },
  ],
  ['a long text', { type: 'string', minLength: 1e15 }],
  ['no schema at all', 'nonsense'],
])('%s is bounded', (_, given) => {
  const text = JSON.stringify(schemaValue(given, { withOptional: true }));
  expect(text.length).toBeLessThan(1_000_000);
});
