import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from './start-process.ts';
import { waitUntil } from './wait-until.ts';

const SERVER = `
import { createServer } from 'node:http';
console.log('hello', process.env.GREETING, Object.keys(process.env).filter((name) => name.startsWith('TEST_')).length);
const server = createServer((request, response) => response.end('ok'));
server.listen(Number(process.env.SERVICE_PORT), process.env.SERVICE_HOST);
process.on('SIGTERM', () => { console.error('bye'); server.close(() => process.exit(3)); server.closeAllConnections(); });
`;

let folder: string;
let script: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'process-'));
  script = join(folder, 'server.mjs');
  await writeFile(script, SERVER);
});

afterAll(() => rm(folder, { recursive: true }));

test('a process is started with its own environment, reached, and stopped', async () => {
  const server = await startProcess({ script, env: { GREETING: 'you' } });
  expect(await (await fetch(server.url)).text()).toBe('ok');
  expect(await server.stop()).toBe(3);
  expect(server.output()).toBe('hello you 0\nbye');
});

test('a process that is killed ends at once', async () => {
  const server = await startProcess({ script });
  await server.kill();
  expect(await server.exited).toBe(128 + 9);
});

test('a process that ends before it is ready is a failure that shows what it wrote', async () => {
  const broken = join(folder, 'broken.mjs');
  await writeFile(broken, "console.error('no luck'); process.exit(1);");
  await expect(startProcess({ script: broken })).rejects.toThrow(
    /ended with status 1; it wrote:\nno luck/,
  );
});

test.each([
  { why: 'is killed because it does not stop', onStop: '() => {}' },
  {
    why: 'logs that a part did not stop',
    onStop: "() => { console.error('a part did not stop cleanly'); process.exit(0); }",
  },
])('a process that $why is a failure that shows what it wrote', async ({ onStop }) => {
  const stuck = join(folder, 'stuck.mjs');
  await writeFile(
    stuck,
    `process.on('SIGTERM', ${onStop}); console.log('stuck'); setInterval(() => {}, 1000);`,
  );
  const running = await startProcess({ script: stuck, readyPath: null, graceSeconds: 1 });
  await waitUntil(() => running.output() === 'stuck', { what: 'a process that handles signals' });
  await expect(running.stop()).rejects.toThrow(/did not stop in time; it wrote:\nstuck/);
});
