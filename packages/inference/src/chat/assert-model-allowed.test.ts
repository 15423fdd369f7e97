import { assertModelAllowed } from './assert-model-allowed.ts';

const denying = (...models: readonly string[]) => ({
  modelPolicy: { enforceAllowlist: false, allowed: new Set<string>(), denied: new Set(models) },
});

test('a user without a group may use every model', () => {
  expect(() => assertModelAllowed({ modelPolicy: null }, 'm', 'm')).not.toThrow();
});

test.each([
  { why: 'the name that was asked for', caller: denying('short') },
  { why: 'what that name stands for', caller: denying('long') },
])('a denial of $why refuses', ({ caller }) => {
  expect(() => assertModelAllowed(caller, 'short', 'long')).toThrow(
    expect.objectContaining({ code: 'model_not_allowed' }),
  );
});

test('a model that the rules do not mention is let through', () => {
  expect(() => assertModelAllowed(denying('other'), 'short', 'long')).not.toThrow();
});
