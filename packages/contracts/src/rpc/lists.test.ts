import { z } from 'zod';
import type { MethodContract } from './method.ts';
import { rpcMethods } from './methods.ts';

const METHODS: readonly (readonly [string, MethodContract])[] = Object.entries(rpcMethods);
const LISTS = METHODS.filter(([, { result }]) => result instanceof z.ZodArray);

test('some results are bare arrays', () => {
  expect(LISTS.map(([name]) => name)).toContain('group.list');
});

test.each(LISTS)('%s has pages of at most 1,000 entries', (_name, { params }) => {
  const { shape } = params as z.ZodObject<Record<string, z.ZodType>>;
  expect('after' in shape || 'before' in shape).toBe(true);
  expect(shape['limit']?.parse(1_000_000)).toBe(1_000);
});
