import * as fc from 'fast-check';
import { byWeight, firstPriority, type RoutedModel } from './route-rule.ts';

const target = fc.record({
  model: fc.string({ minLength: 1 }),
  priority: fc.nat(3),
  weight: fc.nat(5),
});

test('a target of a higher number is never chosen while there is one of a lower number', () => {
  fc.assert(
    fc.property(fc.array(target, { minLength: 1 }), (targets) => {
      const first = firstPriority(targets.map((one) => ({ routed: one })));
      const lowest = Math.min(...targets.map(({ priority }) => priority));
      expect(first.length).toBeGreaterThan(0);
      for (const { routed: chosen } of first) expect(chosen.priority).toBe(lowest);
    }),
  );
});

test('weights are met exactly over evenly spread numbers', () => {
  fc.assert(
    fc.property(fc.array(target, { minLength: 1, maxLength: 6 }), (targets) => {
      const total = targets.reduce((sum, { weight }) => sum + weight, 0);
      fc.pre(total > 0);
      const chosen = new Map<RoutedModel | undefined, number>();
      for (let step = 0; step < total; step += 1) {
        const found = byWeight(targets, (step + 0.5) / total);
        chosen.set(found, (chosen.get(found) ?? 0) + 1);
      }
      for (const one of targets) expect(chosen.get(one) ?? 0).toBe(one.weight);
    }),
  );
});

test('targets of weight 0 are chosen when there is no other, and nothing of nothing', () => {
  const spare = { model: 'spare', priority: 0, weight: 0 };
  expect(byWeight([spare], 0.99)).toBe(spare);
  expect(byWeight([spare, { ...spare, weight: 1, model: 'used' }], 0)).toMatchObject({
    model: 'used',
  });
  expect(byWeight([], 0.5)).toBeUndefined();
});
