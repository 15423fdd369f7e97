import { z } from 'zod';
import type { MethodContract } from './method.ts';
import { rpcMethods } from './methods.ts';

const METHODS: readonly (readonly [string, MethodContract])[] = Object.entries(rpcMethods);
/** The kinds of backends are as many as the code has. */
const LISTS = METHODS.filter(
  ([name, { result }]) => result instanceof z.ZodArray && name !== 'backends.kinds',
);

test('some results are bare arrays', () => {
  expect(LISTS.map(([name]) => name)).toContain('group.list');
});

test.each(LISTS)('%s has pages of at most 1,000 entries', (_name, { params }) => {
  const { shape } = params as z.ZodObject<Record<string, z.ZodType>>;
  expect('after' in shape || 'before' in shape).toBe(true);
  expect(shape['limit']?.parse(1_000_000)).toBe(1_000);
});
