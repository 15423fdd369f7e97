import { z } from 'zod';
import { problemText } from './problem-text.ts';

test.each([
  { schema: z.string(), value: undefined, text: 'required: a text' },
  { schema: z.string(), value: 5, text: 'must be a text, not a number' },
  { schema: z.number(), value: 'hot', text: 'must be a number, not a text' },
  { schema: z.int(), value: 1.5, text: 'must be a whole number' },
  { schema: z.boolean(), value: null, text: 'must be true or false, not null' },
  { schema: z.string(), value: true, text: 'must be a text, not a boolean' },
  {
    schema: z.union([z.string(), z.array(z.string()), z.null()]),
    value: 5,
    text: 'must be a text or an array or null',
  },
  {
    schema: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
    value: {},
    text: 'must be in one of the forms of the reference',
  },
  { schema: z.object({}), value: [], text: 'must be an object, not an array' },
  { schema: z.array(z.string()), value: 'x', text: 'must be an array, not a text' },
  { schema: z.array(z.string()).min(1), value: [], text: 'must have at least 1 entry' },
  { schema: z.array(z.string()).max(2), value: ['', '', ''], text: 'must have at most 2 entries' },
  { schema: z.string().min(8), value: 'short', text: 'must have at least 8 characters' },
  { schema: z.string().max(1), value: 'long', text: 'must have at most 1 character' },
  { schema: z.int().positive(), value: 0, text: 'must be more than 0' },
  { schema: z.int().min(1), value: 0, text: 'must be at least 1' },
  { schema: z.int().max(60), value: 61, text: 'must be at most 60' },
  { schema: z.enum(['day', 'week']), value: 'year', text: 'must be one of day, week' },
  { schema: z.literal('2.0'), value: '1.0', text: 'must be 2.0' },
  { schema: z.uuid(), value: 'x', text: 'must be a UUID' },
  { schema: z.email(), value: 'x', text: 'must be an email address' },
  { schema: z.iso.datetime(), value: 'x', text: 'must be a time such as 2026-01-31T00:00:00Z' },
  { schema: z.strictObject({}), value: { a: 1, b: 2 }, text: 'has fields that do not exist: a, b' },
  { schema: z.string().regex(/^a/, 'must begin with a'), value: 'b', text: 'must begin with a' },
  { schema: z.string('must be a name'), value: 1, text: 'must be a name' },
])('$value has the problem: $text', ({ schema, value, text }) => {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  expect(issue && problemText(issue)).toBe(text);
});
