import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const MODULE = new URL('stop-with-parent.mjs', import.meta.url).href;
// It prints that it has started, and then why it ends: by the signal, or long after its parent has gone.
const SERVICE = `
import { stopWithParent } from '${MODULE}';
stopWithParent();
const end = (why) => { console.log(why); process.exit(0); };
process.once('SIGTERM', () => end('SIGTERM'));
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  setTimeout(() => setImmediate(() => end('it went on')), 3000);
}, 50);
console.log('started');
`;
// A shell with another command after it, so that it stays between: it does not forward signals.
const SHELL = `"${process.execPath}" --input-type=module -e "$SERVICE"; true`;

/** What the service prints after a signal has ended its shell. */
async function endShell(
  env: Readonly<Record<string, string>>,
  signal: NodeJS.Signals,
): Promise<unknown> {
  const shell = spawn('/bin/sh', ['-c', SHELL], {
    env: { ...env, SERVICE },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(shell.stdout)[Symbol.asyncIterator]();
  await lines.next();
  const ended = once(shell, 'exit');
  shell.kill(signal);
  await ended;
  return (await lines.next()).value;
}

test.each(['SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
  'a service of npx ends when the shell between was ended by %s',
  async (signal) => {
    expect(await endShell({ npm_lifecycle_event: 'npx' }, signal)).toBe('SIGTERM');
  },
);

test('a service that was started otherwise goes on', async () => {
  expect(await endShell({}, 'SIGTERM')).toBe('it went on');
});
