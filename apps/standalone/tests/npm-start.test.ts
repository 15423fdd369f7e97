import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort, fullTable, preparedDataDir, waitUntil } from '@model-gateway/testkit';
import { processesOf } from './standalone.ts';

const project = join(import.meta.dirname, '..', '..', '..');

/** A killed npm forwards nothing: the service has to notice its end. */
const SIGNALS = fullTable(['SIGKILL', 'SIGTERM'] as const, { small: 1 });

test.each(SIGNALS)(
  'when npm itself gets %s, the service and its stores stop too',
  async (signal) => {
    const folder = await preparedDataDir();
    const port = await freePort();
    const npm = spawn('npm', ['start'], {
      cwd: project,
      detached: true,
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        HOME: folder.path,
        SERVICE_PORT: String(port),
        SERVICE_DATA_DIR: folder.path,
      },
    });
    const isUp = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status === 200;
    await waitUntil(isUp, { timeoutMs: 180_000, what: 'the service under npm' });
    npm.kill(signal);
    await once(npm, 'exit');
    await waitUntil(async () => (await processesOf(folder.path)).length === 0, {
      timeoutMs: 60_000,
      what: 'the end of the stores',
    });
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
    await folder.remove();
  },
);
