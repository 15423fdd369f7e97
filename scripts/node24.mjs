// `npm run test:node24`: fetches Node 24 through npm into .tools/node24 and runs `npm test` with it. `npm start` uses it from
// then on, as the images do. `node scripts/node24.mjs <program>` runs another program of this repository with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { endChildrenOnSignal, fail, ROOT, runCommand } from './run-command.mjs';

const VERSION = '24.21.0';
const FOLDER = join(ROOT, '.tools', 'node24');
const BIN = join(FOLDER, 'bin');
const NODE = join(BIN, 'node');

const letSignalsPass = endChildrenOnSignal();
await ensureNode24();
// From here on a signal ends the program below, and this one with it.
letSignalsPass();
const [program = 'scripts/test.mjs', ...values] = process.argv.slice(2);
const child = spawn(NODE, [program, ...values], {
  stdio: 'inherit',
  env: { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ''}` },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => void child.kill(signal));
const [status] = await once(child, 'exit');
process.exit(status ?? 1);

async function ensureNode24() {
  if (existsSync(NODE) && (await runCommand(NODE, ['--version'])).output.trim() === `v${VERSION}`)
    return;
  const name = `node-${process.platform}-${process.arch}`;
  mkdirSync(FOLDER, { recursive: true });
  process.stdout.write(`Fetching Node ${VERSION}…\n`);
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { ok, output } = await runCommand('npm', [
    'install',
    '--prefix',
    FOLDER,
    ...flags,
    `${name}@${VERSION}`,
  ]);
  if (!ok) fail(`Node ${VERSION} could not be fetched as the npm package ${name}.`, output);
  rmSync(BIN, { recursive: true, force: true });
  symlinkSync(join('node_modules', name, 'bin'), BIN);
}
