import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createGate,
  preparedDataDir,
  rpcCall,
  startProcess,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { laterMs, usuallyLateMs } from './health-delays.ts';
import { HOSTILE_REQUESTS, type Attacker } from './hostile-requests.ts';
import { chat, startStandalone } from './standalone.ts';

const ADMIN_TOKEN = 'the admin token of the tests';
const AT_ONCE = 100;
const LATE_MS = 200;
/** The machine may be busy during one round, but not during each. */
const ROUNDS_MAX = 3;
const MEMORY_BYTES_MAX = 1024 * 1024 * 1024;

let folder: TemporaryFolder;
let standalone: TestProcess;
let control: TestProcess;
let admin: Attacker;
let ann: Attacker;
let users = 0;

beforeAll(async () => {
  folder = await preparedDataDir();
  standalone = await startStandalone(folder.path, {
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    NODE_OPTIONS: '--max-old-space-size=1024',
  });
  control = await startProcess({
    script: join(import.meta.dirname, 'child/working-control.mjs'),
    readyPath: '/',
  });
  admin = await newAccount();
  ann = await newAccount('enterprise');
});
afterAll(async () => {
  await control.stop();
  await standalone.stop();
  await folder.remove();
});

async function must(method: string, params: object, token?: string) {
  const { result, error } = await rpcCall(standalone.url, method, params, token);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result as Readonly<Record<string, string>>;
}

async function newAccount(tier?: string): Promise<Attacker> {
  users += 1;
  const email = `user-${users}@example.com`;
  const { access_token: token = '' } = await must('auth.register', {
    email,
    password: 'long enough',
  });
  if (tier !== undefined) await must('billing.plan.set', { user_email: email, tier }, ADMIN_TOKEN);
  const { key = '' } = await must('keys.create', { name: 'k' }, token);
  return { token, key };
}

/** The most memory that the process has had, in bytes. */
async function peakBytes(): Promise<number> {
  const status = await readFile(`/proc/${standalone.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

/** What others get meanwhile. */
async function useService(): Promise<void> {
  const served = await chat(standalone.url, ann.key);
  expect({ status: served.status, text: await served.text() }).toMatchObject({ status: 200 });
  await must('auth.me', {}, ann.token);
  await must('conversations.create', {}, ann.token);
}

const CALLS = 500;
const SAMPLES = 5;
/** Much more than a burst of small calls takes, and much less than waiting for all of them. */
const PROMPT_MS = 2_000;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Infinity;

/** How much longer calls of others take than those to a control, by what they are; each several times. */
async function othersMs(
  meanwhile: () => Promise<unknown>,
): Promise<Readonly<Record<string, number>>> {
  const { id: group_id = '' } = await must('group.create', { name: 'of the admin' }, admin.token);
  const calls = {
    'auth.me': () => must('auth.me', {}, ann.token),
    'conversations.create': () => must('conversations.create', {}, ann.token),
    'an audited call of an admin': () => must('group.update', { group_id, name: 'n' }, admin.token),
  };
  const measured = new Map<string, number[]>(Object.keys(calls).map((what) => [what, []]));
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const attack = meanwhile();
    for (const [what, call] of Object.entries(calls)) {
      const { pid } = standalone;
      // The control shows how late this test itself is, which sends the calls.
      const late = await laterMs(pid, call, () => fetch(control.url));
      measured.get(what)?.push(late);
    }
    await attack;
  }
  return Object.fromEntries([...measured].map(([what, ms]) => [what, median(ms)]));
}

test('with 500 calls of one user at once, audited and not, others are served promptly', async () => {
  const attacker = await newAccount();
  const { id: group_id = '' } = await must('group.create', { name: 'g' }, attacker.token);
  const refusals = new Set<string>();
  const call = async (index: number): Promise<void> => {
    const [method, params] =
      index % 2 === 0
        ? (['group.update', { group_id, name: `n${index}` }] as const)
        : (['conversations.create', {}] as const);
    const { error } = await rpcCall(standalone.url, method, params, attacker.token);
    if (error !== undefined) refusals.add(`${error.code} ${error.message}`);
  };
  const idleMs = await othersMs(async () => undefined);
  const busyMs = await othersMs(() =>
    Promise.all(Array.from({ length: CALLS }, (_, index) => call(index))),
  );
  const lateCalls = Object.entries(busyMs).filter(
    ([what, ms]) => ms > (idleMs[what] ?? 0) + PROMPT_MS,
  );
  expect(lateCalls).toEqual([]);
  expect([...refusals]).toEqual([
    expect.stringMatching(/^-32000 too many calls.* at most 50 per user/),
  ]);
});

test.each(HOSTILE_REQUESTS.map((hostile) => [hostile.what, hostile] as const))(
  'others do not notice 100 times %s at once',
  async (_what, hostile) => {
    const { url, pid } = standalone;
    let lateMs = Infinity;
    for (let round = 0; round < ROUNDS_MAX && lateMs > LATE_MS; round += 1) {
      const served = createGate();
      const send = await hostile.prepare({
        url,
        adminToken: ADMIN_TOKEN,
        admin,
        newAttacker: () => newAccount(),
        othersServed: served.opened,
      });
      const late = await usuallyLateMs({ url, pid, controlUrl: control.url }, async () => {
        const sent = Array.from({ length: AT_ONCE }, (_, index) => send(index));
        try {
          await useService();
        } finally {
          served.open();
        }
        // Each is answered: no connection was lost.
        expect(await Promise.all(sent)).toHaveLength(AT_ONCE);
      });
      lateMs = Math.min(lateMs, late);
    }
    expect(lateMs).toBeLessThanOrEqual(LATE_MS);
    expect(await peakBytes()).toBeLessThan(MEMORY_BYTES_MAX);
  },
);
