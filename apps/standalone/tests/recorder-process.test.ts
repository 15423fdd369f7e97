import {
  preparedDataDir,
  waitUntil,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { chat, chatOnce, childrenOf, metric, startStandalone, usageRows } from './standalone.ts';

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

test('a recorder that is killed is started again, and every request is recorded once', async () => {
  const { token, key } = await chatOnce(standalone.url, 'recorded@example.com');
  await usageRows(standalone.url, token, 1);
  const recorded = () => metric(standalone.url, 'service_usage_recorded_total');
  await waitUntil(async () => (await recorded()) === 1, { what: 'the counter of the recorder' });
  // The first that was started.
  const [recorder = 0] = await childrenOf(standalone.pid);
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
  await waitUntil(async () => (await recorded()) > 1, { what: 'the counter of both' });
  await waitUntil(async () => (await metric(standalone.url, 'service_journal_lag')) === 0, {
    what: 'an empty journal',
  });
});
