import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  waitUntil,
  type TestProcess,
  preparedDataDir,
  type TemporaryFolder,
} from '@model-gateway/testkit';
import { chat, chatOnce, processesOf, startStandalone, usageRows } from './standalone.ts';

const noneLeft = (path = '') =>
  waitUntil(async () => (await processesOf(path)).length === 0, {
    what: 'the end of all processes',
  });

describe('one instance', () => {
  let folder: TemporaryFolder;
  const running: TestProcess[] = [];

  beforeEach(async () => {
    folder = await preparedDataDir();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((standalone) => standalone.stop()));
    await folder.remove();
  });

  async function start(env?: Readonly<Record<string, string>>): Promise<TestProcess> {
    const standalone = await startStandalone(folder.path, env);
    running.push(standalone);
    return standalone;
  }

  test('after SIGKILL of every process the next start has all data', async () => {
    const first = await start();
    const { token, key } = await chatOnce(first.url, 'kept@example.com');
    await usageRows(first.url, token, 1);
    expect((await chat(first.url, key)).status).toBe(200);
    for (const id of await processesOf(folder.path)) {
      try {
        process.kill(id, 'SIGKILL');
      } catch {
        // It exited together with another one.
      }
    }
    await first.kill().catch(() => undefined);
    const second = await start();
    // The second turn was served, so it is billed, whether or not it had been recorded before the kill.
    expect(await usageRows(second.url, token, 2)).toHaveLength(2);
    expect((await chat(second.url, key)).status).toBe(200);
    expect(second.output()).not.toContain('shown only once');
  });

  test('without a redis-server on the PATH everything runs in one process', async () => {
    // The guard around the process under test needs a `sleep`.
    const programs = join(folder.path, 'programs');
    await mkdir(programs);
    await symlink('/bin/sleep', join(programs, 'sleep'));
    const standalone = await start({ PATH: programs });
    expect(standalone.output()).toContain('no Redis (in-process)');
    const { token } = await chatOnce(standalone.url, 'alone@example.com');
    expect(await usageRows(standalone.url, token, 1)).toHaveLength(1);
    expect(await standalone.stop()).toBe(0);
    await noneLeft(folder.path);
  });

  test('without the demo backend there is no demo model', async () => {
    const standalone = await start({ SERVICE_DEMO: '0' });
    await expect(chatOnce(standalone.url, 'nodemo@example.com')).rejects.toThrow(
      'No backend available for model: demo-chat',
    );
  });
});

describe('two instances with their own data directory and port', () => {
  const folders: TemporaryFolder[] = [];
  const instances: TestProcess[] = [];

  beforeAll(async () => {
    folders.push(await preparedDataDir(), await preparedDataDir());
    instances.push(...(await Promise.all(folders.map(({ path }) => startStandalone(path)))));
  });
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    await Promise.all(folders.map((each) => each.remove()));
  });

  test('run side by side', async () => {
    const [left, right] = instances;
    const { key } = await chatOnce(left?.url ?? '', 'left@example.com');
    expect((await chat(right?.url ?? '', key)).status).toBe(401);
    await chatOnce(right?.url ?? '', 'right@example.com');
  });

  test('Ctrl-C, which arrives twice under npm, drains once and leaves no process behind', async () => {
    instances[0]?.signal('SIGINT');
    instances[0]?.signal('SIGINT');
    expect(await instances[0]?.exited).toBe(0);
    await noneLeft(folders[0]?.path);
  });

  test('after SIGKILL of only the service its stores stop by themselves', async () => {
    await instances[1]?.kill();
    await noneLeft(folders[1]?.path);
  });
});
