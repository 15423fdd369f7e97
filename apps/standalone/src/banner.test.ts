import { banner } from './banner.ts';

const facts = {
  baseUrl: 'http://127.0.0.1:8080',
  adminToken: { kind: 'configured' },
  demo: true,
  firstSteps: { kind: 'register', passwordFile: '/var/data/secrets/first-password' },
  stores: 'embedded Postgres',
  commandLine: 'npx gateway',
} as const;

test('the console comes first, alone on a line', () => {
  expect(banner(facts)).toMatch(
    /^\nModel Gateway is up\.\n\n {2}http:\/\/127\.0\.0\.1:8080\/console\/\n\n/,
  );
});

test('without an account, two commands register the first one and chat', () => {
  expect(banner(facts)).toContain(
    [
      'Set it up there: the first account is the admin, or with the command line:',
      '',
      '  npx gateway login --register --email you@example.com --password-stdin --url http://127.0.0.1:8080 < /var/data/secrets/first-password',
      "  npx gateway chat demo-chat 'Hello!' --url http://127.0.0.1:8080",
      '',
    ].join('\n'),
  );
  const withoutCommandLine = banner({ ...facts, commandLine: undefined });
  expect(withoutCommandLine).toContain('the first account is the admin.\n');
  expect(withoutCommandLine).not.toContain('login');
});

test.each([
  {
    account: 'an admin',
    firstSteps: { email: 'ada@example.com' },
    command: 'login --email ada@example.com --url http://127.0.0.1:8080\n',
  },
  {
    account: 'the admin of the guides',
    firstSteps: { email: 'you@example.com', passwordFile: '/var/data/secrets/first-password' },
    command:
      'login --email you@example.com --password-stdin --url http://127.0.0.1:8080 < /var/data/secrets/first-password\n',
  },
  {
    account: 'an admin whose address is not shown',
    firstSteps: {},
    command: 'login --url http://127.0.0.1:8080\n',
  },
])('with accounts it registers none, and $account signs in', ({ firstSteps, command }) => {
  const shown = banner({ ...facts, firstSteps: { kind: 'sign-in', ...firstSteps } });
  expect(shown).toContain('Sign in there, or with the command line:\n');
  expect(shown).toContain(`  npx gateway ${command}`);
  expect(shown).not.toContain('register');
});

test('the path of the password is one word for a shell', () => {
  const passwordFile = "/home/Ann's data/first-password";
  const shown = banner({ ...facts, firstSteps: { kind: 'register', passwordFile } });
  expect(shown).toContain(`< '/home/Ann'\\''s data/first-password'\n`);
});

test('with closed registration and no account it says so, and shows no command', () => {
  const shown = banner({ ...facts, firstSteps: { kind: 'closed' } });
  expect(shown).toContain('registration is closed (SERVICE_REGISTRATION_OPEN)');
  expect(shown).not.toContain('npx gateway');
});

test('without the demo backend the banner shows how to add a backend in place of a chat', () => {
  const shown = banner({ ...facts, demo: false });
  expect(shown).not.toContain('demo-chat');
  expect(shown).toContain('  npx gateway backends add --help\n');
});
