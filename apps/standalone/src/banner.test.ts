import { banner } from './banner.ts';

const facts = {
  baseUrl: 'http://127.0.0.1:8080',
  adminToken: { kind: 'configured' },
  demo: true,
  registrationOpen: true,
  stores: 'embedded Postgres',
} as const;

test('the first chat begins with an account', () => {
  expect(banner(facts)).toContain('auth.register');
});

test('with closed registration the banner does not register an account', () => {
  const shown = banner({ ...facts, registrationOpen: false });
  expect(shown).not.toMatch(/auth\.register|registers/);
  expect(shown).toContain('KEY=service-');
  expect(shown).toContain('/v1/chat/completions');
});

test('without the demo backend the banner shows no first chat', () => {
  expect(banner({ ...facts, demo: false })).not.toMatch(/auth\.register|demo-chat/);
});
