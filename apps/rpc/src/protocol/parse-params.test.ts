import { z } from 'zod';
import { parseParams } from './parse-params.ts';

const schema = z.object({
  name: z.string(),
  project: z.string().optional(),
  ceiling: z.int().nullable().optional(),
});

test('a null where none is meant counts as left out, and one that is meant stays', () => {
  expect(parseParams(schema, { name: 'a', project: null, ceiling: null })).toEqual({
    name: 'a',
    ceiling: null,
  });
});

test('a null in place of something required is refused, with every failing field listed', () => {
  expect(() => parseParams(schema, { name: null, project: 7 })).toThrow("Invalid params: 'name'");
});

test('a list is refused', () => {
  expect(() => parseParams(schema, [])).toThrow('Invalid params: params');
});
