import { z } from 'zod';
import { parseParams } from './parse-params.ts';

const schema = z.object({
  name: z.string(),
  project: z.string().optional(),
  ceiling: z.int().nullable().optional(),
});

test('null for a field that does not allow it means omitted; null for a field that allows it stays', () => {
  expect(parseParams(schema, { name: 'a', project: null, ceiling: null })).toEqual({
    name: 'a',
    ceiling: null,
  });
});

test('null for a required field is refused', () => {
  expect(() => parseParams(schema, { name: null, project: 7 })).toThrow("Invalid params: 'name'");
});

test('a list is refused', () => {
  expect(() => parseParams(schema, [])).toThrow('Invalid params: params');
});
