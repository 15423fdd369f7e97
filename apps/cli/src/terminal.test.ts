import { PassThrough } from 'node:stream';
import { ask, readSecret } from './terminal.ts';

function fakeTerminal() {
  const stderr = new PassThrough();
  let shown = '';
  stderr.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const terminal = { stdin: new PassThrough(), stdout: new PassThrough(), stderr };
  return { terminal, shown: () => shown };
}

test('a password is not shown while it is typed, and other answers are', async () => {
  const secret = fakeTerminal();
  const password = ask(secret.terminal, 'Password: ', true);
  secret.terminal.stdin.write('a long password\r');
  expect(await password).toBe('a long password');
  expect(secret.shown()).toBe('Password: \n');

  const open = fakeTerminal();
  const email = ask(open.terminal, 'Email: ');
  open.terminal.stdin.write('you@example.com\r');
  expect(await email).toBe('you@example.com');
  expect(open.shown()).toContain('you@example.com');
});

test('Ctrl-C and the end of the input end a question', async () => {
  for (const typed of ['\u0003', '\u0004']) {
    const { terminal } = fakeTerminal();
    const answer = ask(terminal, 'Password: ', true);
    terminal.stdin.write(typed);
    await expect(answer).rejects.toMatchObject({ code: 'interrupted' });
  }
});

test('a secret from standard input is one line without spaces around it, and must not be empty', async () => {
  const { terminal } = fakeTerminal();
  terminal.stdin.end('  the token \n');
  expect(await readSecret(terminal, 'admin token')).toBe('the token');
  const { terminal: empty } = fakeTerminal();
  empty.stdin.end('\n');
  await expect(readSecret(empty, 'admin token')).rejects.toMatchObject({ code: 'usage' });
});
