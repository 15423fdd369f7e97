import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodeProblem } from './start-problems.mjs';

const run = promisify(execFile);

test.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0'])('Node %s can run the service', (version) => {
  expect(nodeProblem(version)).toBeUndefined();
});

test.each(['20.18.3', '18.20.8', '14.0.0'])('Node %s is reported as too old', (version) => {
  expect(nodeProblem(version)).toBe(
    `Node 20.19 or newer is required, this is ${version}; install a newer one from nodejs.org or with your package manager`,
  );
});

test('the command line of a checkout that was not built says what to do', async () => {
  const checkout = await mkdtemp(join(tmpdir(), 'model-gateway-not-built-'));
  try {
    await cp('scripts', join(checkout, 'scripts'), { recursive: true });
    await expect(run('node', [join(checkout, 'scripts', 'gateway.mjs')])).rejects.toMatchObject({
      code: 1,
      stderr:
        'The command line is not built yet; run `npm start` once, which installs and builds it\n',
    });
  } finally {
    await rm(checkout, { recursive: true, force: true });
  }
});
