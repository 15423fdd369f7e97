import { banner } from './banner.ts';

const facts = {
  baseUrl: 'http://127.0.0.1:8080',
  adminToken: { kind: 'configured' },
  demo: true,
  passwordFile: '/var/data/secrets/first-password',
  stores: 'embedded Postgres',
  commandLine: 'npx gateway',
} as const;

test('the first chat begins with the account of the guides, and is not streamed', () => {
  const shown = banner(facts);
  expect(shown).toContain('auth.register');
  expect(shown).toContain(
    'EMAIL=you@example.com PASSWORD=$(cat /var/data/secrets/first-password)\n',
  );
  expect(shown).not.toContain('stream');
});

test('the first chat takes two commands of the command line, if it is there', () => {
  expect(banner(facts)).toContain(
    [
      '  npx gateway login --register --email you@example.com --password-stdin --url http://127.0.0.1:8080 < /var/data/secrets/first-password',
      "  npx gateway chat demo-chat 'Hello!' --url http://127.0.0.1:8080",
      '',
      'The same with curl',
    ].join('\n'),
  );
  expect(banner({ ...facts, commandLine: undefined })).not.toContain('login --register');
  expect(banner({ ...facts, passwordFile: undefined })).not.toContain('login --register');
});

test('the path of the password is one word for a shell', () => {
  const shown = banner({ ...facts, passwordFile: "/home/Ann's data/first-password" });
  expect(shown).toContain(`$(cat '/home/Ann'\\''s data/first-password')`);
});

test('the limits of the account and the command that lifts them', () => {
  const shown = banner(facts);
  expect(shown).toContain('tier free: 10 requests a minute, 100,000 tokens and $1 a month');
  const command = 'npx gateway plan set you@example.com enterprise --url http://127.0.0.1:8080\n';
  expect(shown).toContain(`  GATEWAY_ADMIN_TOKEN=\${SERVICE_ADMIN_TOKEN:?} ${command}`);
  expect(banner({ ...facts, passwordFile: undefined })).not.toContain('plan set');
  const kept = banner({ ...facts, adminToken: { kind: 'kept', file: '/var/data/admin-token' } });
  expect(kept).toContain(`  GATEWAY_ADMIN_TOKEN=$(cat /var/data/admin-token) ${command}`);
});

test('with closed registration the banner does not register an account', () => {
  const shown = banner({ ...facts, passwordFile: undefined });
  expect(shown).not.toMatch(/auth\.register|registers/);
  expect(shown).toContain('KEY=service-');
  expect(shown).toContain('/v1/chat/completions');
});

test('without the demo backend the banner shows no first chat', () => {
  expect(banner({ ...facts, demo: false })).not.toMatch(/auth\.register|demo-chat/);
});
