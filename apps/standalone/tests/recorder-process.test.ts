import { readdir, readFile } from 'node:fs/promises';
import { preparedDataDir, type TemporaryFolder, type TestProcess } from '@model-gateway/testkit';
import { chat, chatOnce, startStandalone, usageRows } from './standalone.ts';

let folder: TemporaryFolder;
let standalone: TestProcess;

beforeAll(async () => {
  folder = await preparedDataDir();
  standalone = await startStandalone(folder.path);
});

afterAll(async () => {
  await standalone.stop();
  await folder.remove();
});

/** The processes of the service beside the first one and its stores. */
async function childrenOf(parent: number): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    ids.map(async (id) => {
      const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
      const [, parentId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
      return Number(parentId) === parent && command.includes('main.js') ? [Number(id)] : [];
    }),
  );
  return found.flat();
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${standalone.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
}

test('a recorder that is killed is started again, and every request is recorded once', async () => {
  const { token, key } = await chatOnce(standalone.url, 'recorded@example.com');
  await usageRows(standalone.url, token, 1);
  expect(await metric('service_usage_recorded_total')).toBe(1);
  const [recorder = 0, ...others] = await childrenOf(standalone.pid);
  expect(others).toEqual([]);
  const chats = async (): Promise<readonly number[]> =>
    Promise.all(
      Array.from({ length: 4 }, async () => {
        const response = await chat(standalone.url, key);
        await response.arrayBuffer();
        return response.status;
      }),
    );
  const answered = [chats()];
  process.kill(recorder, 'SIGKILL');
  answered.push(chats());
  expect(new Set((await Promise.all(answered)).flat())).toEqual(new Set([200]));
  expect(await usageRows(standalone.url, token, 9)).toHaveLength(9);
  expect(standalone.output()).toContain('a process ended unexpectedly; starting it again');
  // What it had counted before is counted on.
  expect(await metric('service_usage_recorded_total')).toBeGreaterThan(1);
  expect(await metric('service_journal_lag')).toBe(0);
});
