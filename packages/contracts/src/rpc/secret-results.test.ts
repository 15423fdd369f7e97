import { z } from 'zod';
import type { MethodContract } from './method.ts';
import { rpcMethods } from './methods.ts';

/** The names that a secret has in a result. */
const SECRET_FIELD = /"(key|token|access_token|refresh_token|secret|reset_link|link)":\{/;
/** Its `key` names a group of sums. */
const NO_SECRET = ['usage.summary'];

const contracts = Object.entries<MethodContract>(rpcMethods);

test('every method whose result has a secret says so', () => {
  const withSecret = contracts.filter(
    ([name, { result }]) =>
      !NO_SECRET.includes(name) &&
      SECRET_FIELD.test(JSON.stringify(z.toJSONSchema(result, { unrepresentable: 'any' }))),
  );
  const declared = contracts.filter(([, { hasSecretResult }]) => hasSecretResult === true);
  const names = (methods: typeof contracts) => methods.map(([name]) => name).toSorted();
  expect(names(declared)).toEqual(names(withSecret));
  expect(names(declared)).toEqual([
    'agents.register',
    'auth.login',
    'auth.refresh',
    'auth.register',
    'group.invite.create',
    'keys.create',
    'keys.rotate',
    'users.reset_link',
    'webhooks.create',
  ]);
});
