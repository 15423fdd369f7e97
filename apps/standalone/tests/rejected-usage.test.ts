import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@model-gateway/db';
import { embeddedPostgresUrl } from '@model-gateway/embedded';
import { newId, silentLog } from '@model-gateway/kernel';
import { createTestDatabase, preparedDataDir, usageEvent } from '@model-gateway/testkit';
import { chatOnce, startStandalone } from './standalone.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs a built program to its end. */
function run(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    const options = { env: { PATH: process.env['PATH'] ?? '', ...env }, cwd: root };
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

async function setAside(databaseUrl: string): Promise<string> {
  const database = createDatabase({ databaseUrl, log: silentLog });
  const event = usageEvent(newId());
  await database.rejectedUsage.add({ id: event.id, event: JSON.stringify(event), error: 'no' });
  await database.close();
  return event.id;
}

test('beside a running standalone, the command meters what waits in its embedded database', async () => {
  const folder = await preparedDataDir();
  const program = 'apps/standalone/dist/rejected-usage-main.js';
  const env = { SERVICE_DATA_DIR: folder.path };
  expect(await run(program, ['list'], env)).toEqual({
    code: 1,
    output: `usage:rejected: there is no embedded Postgres in ${folder.path}; set DATABASE_URL\n`,
  });
  const standalone = await startStandalone(folder.path);
  await chatOnce(standalone.url, 'ann@example.com');
  const id = await setAside(await embeddedPostgresUrl(folder.path));
  expect(await run(program, ['list'], env)).toMatchObject({
    code: 0,
    output: expect.stringContaining(id),
  });
  expect(await run(program, ['retry', '--all'], env)).toEqual({
    code: 0,
    output: `${id} metered\n`,
  });
  expect(await run(program, ['retry', id], env)).toEqual({ code: 1, output: `${id} unknown\n` });
  await standalone.stop();
  await folder.remove();
}, 300_000);

test('the program of the image works on the database of DATABASE_URL', async () => {
  const database = await createTestDatabase();
  const program = 'apps/video-worker/dist/rejected-usage-main.js';
  const env = { DATABASE_URL: database.url };
  expect(await run(program, ['list'], env)).toEqual({
    code: 0,
    output: 'No usage event waits.\n',
  });
  const id = await setAside(database.url);
  expect(await run(program, ['delete', id], env)).toMatchObject({ code: 0 });
  expect(await run(program, [], {})).toMatchObject({
    code: 1,
    output: expect.stringContaining('DATABASE_URL'),
  });
  await database.drop();
}, 300_000);
