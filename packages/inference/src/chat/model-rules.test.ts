import { allowedBy, isServable, modelNotAllowed } from './model-rules.ts';

const denying = (...models: readonly string[]) => ({
  enforceAllowlist: false,
  allowed: new Set<string>(),
  denied: new Set(models),
});
const serving = (...models: readonly string[]) => ({
  targetsOf: () => models.map((model) => ({ model })),
});
const names = { requested: 'short', aliasTarget: 'long' };

test('a user without rules may use every model', () => {
  expect(allowedBy({ modelPolicy: null })).toBeUndefined();
});

test.each([
  { why: 'the requested name', policy: denying('short'), served: ['m'], isAllowed: false },
  { why: 'the target of the alias', policy: denying('long'), served: ['m'], isAllowed: false },
  { why: 'the only target of the route', policy: denying('m'), served: ['m'], isAllowed: false },
  { why: 'one of two targets', policy: denying('m'), served: ['m', 'n'], isAllowed: true },
  { why: 'another model', policy: denying('other'), served: ['m'], isAllowed: true },
  { why: 'the name of what has no backend', policy: denying('long'), served: [], isAllowed: false },
  { why: 'nothing of what has no backend', policy: denying('m'), served: [], isAllowed: true },
])('where the rules deny $why, a request may be served: $isAllowed', (row) => {
  expect(isServable(row.policy, serving(...row.served), names)).toBe(row.isAllowed);
});

test('a key that lists the name of a route may use its targets, and a target by any route', () => {
  const policy = { ...denying(), keyModels: ['short'] };
  expect(allowedBy({ modelPolicy: policy })?.({ ...names, served: 'm' })).toBe(true);
  const listing = { ...denying(), keyModels: ['m'] };
  const allows = allowedBy({ modelPolicy: listing });
  expect([allows?.({ ...names, served: 'm' }), allows?.({ ...names, served: 'n' })]).toEqual([
    true,
    false,
  ]);
});

test('the refusal says whose rules it was', () => {
  const listed = { ...denying(), keyModels: ['m'] };
  expect(modelNotAllowed(listed, 'short', 'long').message).toBe(
    'this key does not allow the model: short',
  );
  expect(modelNotAllowed(denying('m'), 'short', 'long')).toMatchObject({
    code: 'model_not_allowed',
    message: 'your group does not allow the model: short',
  });
});
