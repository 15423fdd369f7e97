import { modelRefusal, type ModelPolicy } from './is-model-allowed.ts';

const policy = (rules: Partial<ModelPolicy>): ModelPolicy => ({
  enforceAllowlist: false,
  allowed: new Set(),
  denied: new Set(),
  ...rules,
});

test.each([
  { why: 'a listed model', keyModels: ['m'], requested: 'm', refusing: undefined },
  { why: 'another model', keyModels: ['m'], requested: 'n', refusing: 'key' },
  { why: 'a model of a pattern', keyModels: ['m-*'], requested: 'm-1', refusing: undefined },
  { why: 'its :latest form', keyModels: ['m'], requested: 'm:latest', refusing: undefined },
  {
    why: 'an alias of it',
    keyModels: ['m'],
    requested: 'a',
    aliasTarget: 'm',
    refusing: undefined,
  },
  {
    why: 'a listed alias',
    keyModels: ['a'],
    requested: 'a',
    aliasTarget: 'm',
    refusing: undefined,
  },
  { why: 'no list', requested: 'm', refusing: undefined },
  {
    why: 'what the group denies',
    keyModels: ['*'],
    denied: new Set(['m']),
    requested: 'm',
    refusing: 'group',
  },
])('$why: $refusing', ({ why: _why, requested, aliasTarget, refusing, ...rules }) => {
  expect(modelRefusal(policy(rules), { requested, aliasTarget })).toBe(refusing);
});
