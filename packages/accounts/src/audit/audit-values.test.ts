import { auditValue } from './audit-values.ts';

test('secrets are hidden and emails left out, at any depth', () => {
  expect(
    auditValue({
      name: 'a',
      api_key: 'sk-1',
      apiKey: 'sk-1',
      api_keys: ['sk-1'],
      token: 't',
      passwordHash: 'h',
      key: 'k',
      key_id: 'stays',
      tokens: null,
      monthly_token_quota: 5,
      email: 'a@example.com',
      inner: [{ secret: 's', user_email: 'a@example.com', at: new Date(0), n: 1n }],
      none: undefined,
    }),
  ).toEqual({
    name: 'a',
    api_key: '[hidden]',
    apiKey: '[hidden]',
    api_keys: '[hidden]',
    token: '[hidden]',
    passwordHash: '[hidden]',
    key: '[hidden]',
    key_id: 'stays',
    tokens: null,
    monthly_token_quota: 5,
    inner: [{ secret: '[hidden]', at: '1970-01-01T00:00:00.000Z', n: '1' }],
  });
  expect(auditValue(undefined)).toBeNull();
});

test('a large value is cut', () => {
  const value = auditValue({ models: Array.from({ length: 10_000 }, () => 'model') });
  expect(JSON.stringify(value).length).toBeLessThan(10_000);
});
