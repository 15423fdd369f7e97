import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fullTable, startProcess, waitUntil, type TestProcess } from '@model-gateway/testkit';
import { startFakeGateway, TOKEN, type FakeGateway } from './fake-gateway.ts';

const ENGINE = fileURLToPath(new URL('./child/chat-engine.mjs', import.meta.url));

let gateway: FakeGateway;
let folder = '';
const daemons: TestProcess[] = [];

beforeEach(async () => {
  gateway = await startFakeGateway();
  folder = await mkdtemp(join(tmpdir(), 'gpu-agent-'));
});
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.stop();
  await gateway.close();
  await rm(folder, { recursive: true });
});

/** A configuration file with one model `m` that the test engine serves. */
async function configFile(...args: readonly string[]): Promise<string> {
  const file = join(folder, 'engines.json');
  const listening = ['--model', '{id}', '--host', '{host}', '--port', '{port}'];
  const command = [process.execPath, ENGINE, ...listening, ...args];
  await writeFile(
    file,
    JSON.stringify({ models: { m: { command, stop_timeout_secs: 1, ready_timeout_secs: 120 } } }),
  );
  return file;
}

async function startDaemon(...args: readonly string[]): Promise<TestProcess> {
  const daemon = await startProcess({
    app: 'gpu-agent',
    args: ['--url', gateway.url, ...args],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', AGENT_TOKEN: TOKEN },
    readyPath: null,
  });
  daemons.push(daemon);
  return daemon;
}

const connected = (): Promise<void> =>
  waitUntil(() => gateway.frames.some(({ method }) => method === 'Agent.Heartbeat'), {
    what: 'a heartbeat',
  });

async function deploy(...engineArgs: readonly string[]) {
  const daemon = await startDaemon('--config', await configFile(...engineArgs));
  await connected();
  const reply = await gateway.call('Agent.Deploy', { model_id: 'm', stream_id: 's' });
  return { daemon, port: (reply.result as { port?: number } | undefined)?.port ?? 0 };
}

const serves = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/v1/models`).then(
    ({ status }) => status === 200,
    () => false,
  );

test('Agent.Move opens a new connection immediately and keeps the old one, whose close code is then ignored', async () => {
  const daemon = await startDaemon();
  await connected();
  gateway.notify('Agent.Move');
  await waitUntil(
    () => gateway.frames.filter(({ method }) => method === 'Agent.Hello').length === 2,
  );
  expect(gateway.open).toBe(2);
  gateway.closeOldest(4000);
  await waitUntil(() => gateway.open === 1);
  const seen = gateway.frames.length;
  await waitUntil(() =>
    gateway.frames.slice(seen).some(({ method }) => method === 'Agent.Heartbeat'),
  );
  expect(gateway.connections).toBe(2);
  expect(await daemon.stop()).toBe(0);
});

test('it sends a hello and heartbeats, and deploys, reports and stops a model', async () => {
  const { port } = await deploy('--load-ms', '1200');
  expect(gateway.frames[0]).toMatchObject({
    method: 'Agent.Hello',
    params: { version: '0.1.0', gpus: [], models: [], tunnel: 1 },
  });
  const progress = gateway.frames
    .filter(({ method }) => method === 'Agent.Progress')
    .map(({ params }) => params);
  expect(progress[0]).toEqual({ stream_id: 's', model_id: 'm', status: 'loading', progress: 0 });
  // A slow machine skips some percentages.
  expect(progress.slice(1)).toContainEqual({
    stream_id: 's',
    model_id: 'm',
    status: 'pulling',
    progress: expect.any(Number),
    downloaded_bytes: 1e9,
    total_bytes: 4e9,
  });
  expect(await serves(port)).toBe(true);
  await waitUntil(() => gateway.models()[0]?.status === 'ready');
  expect(gateway.models()).toEqual([{ model_id: 'm', status: 'ready', port }]);
  // Deploying it again returns the same instance.
  expect(await gateway.call('Agent.Deploy', { model_id: 'm', stream_id: 't' })).toMatchObject({
    result: { port },
  });
  expect(await gateway.call('Agent.Stop', { model_id: 'm' })).toMatchObject({
    result: { ok: true },
  });
  expect(await serves(port)).toBe(false);
  await waitUntil(() => gateway.models().length === 0);
  expect(await gateway.call('Agent.Stop', { model_id: 'm' })).toMatchObject({
    result: { ok: true },
  });
});

test('a model that is not configured, an engine that ends and an unknown method return errors', async () => {
  await startDaemon('--config', await configFile('--broken'));
  await connected();
  const errorOf = async (model_id: string) =>
    (await gateway.call('Agent.Deploy', { model_id, stream_id: 's' })).error;
  expect(await errorOf('other')).toEqual({
    code: -32_000,
    message: 'this node is not configured to run this model',
  });
  expect(await errorOf('m')).toEqual({
    code: -32_000,
    message: 'the engine ended with status 3: out of memory',
  });
  const { error } = await gateway.call('Agent.Reboot', {});
  expect(error).toMatchObject({ code: -32_601 });
});

test('an engine that exits by itself is reported immediately', async () => {
  const { port } = await deploy();
  await waitUntil(() => gateway.models()[0]?.status === 'ready');
  await fetch(`http://127.0.0.1:${port}/crash`, { method: 'POST' }).catch(() => undefined);
  await waitUntil(() => gateway.models()[0]?.status === 'failed');
  // It can be deployed again.
  expect(await gateway.call('Agent.Deploy', { model_id: 'm', stream_id: 't' })).toMatchObject({
    result: { port: expect.any(Number) as unknown },
  });
});

describe('no engine is left running', () => {
  const pidsOf = async (port: number) => {
    const response = await fetch(`http://127.0.0.1:${port}/pids`);
    return (await response.json()) as readonly number[];
  };
  const runs = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  const allEnded = (pids: readonly number[]): Promise<void> =>
    waitUntil(() => !pids.some(runs), { what: 'the end of the engine' });

  const ends = [
    ['the daemon is stopped', 'stop', []],
    ['the daemon is killed, and the engine ignores SIGTERM', 'kill', ['--stubborn']],
    ['the model is stopped, and the engine ignores SIGTERM', 'model', ['--stubborn']],
    ['the daemon is killed', 'kill', []],
  ] as const;
  test.each(fullTable(ends, { small: 3 }))('when %s', async (_when, how, engineArgs) => {
    const { daemon, port } = await deploy('--with-child', ...engineArgs);
    const pids = await pidsOf(port);
    expect(pids.map(runs)).toEqual([true, true]);
    if (how === 'stop') await daemon.stop();
    else if (how === 'kill') await daemon.kill();
    else await gateway.call('Agent.Stop', { model_id: 'm' });
    await allEnded(pids);
  });
});

test('it reconnects after the gateway closed the connection, with its models still running', async () => {
  const { port } = await deploy();
  for (const code of [undefined, 1001, 1013]) {
    const before = gateway.connections;
    gateway.disconnect(code);
    await waitUntil(() => gateway.connections === before + 1);
  }
  const hello = gateway.frames.findLast(({ method }) => method === 'Agent.Hello');
  expect(hello?.params?.['models']).toEqual([{ model_id: 'm', status: 'ready', port }]);
  expect(await serves(port)).toBe(true);
});

describe('a gateway cannot keep the node busy', () => {
  interface Failure {
    readonly reason: string;
    readonly retryInMs: number;
  }

  const failuresOf = (daemon: TestProcess): readonly Failure[] =>
    daemon
      .output()
      .split('\n')
      .filter((line) => line.includes('retryInMs'))
      .map((line) => JSON.parse(line) as Failure);

  /** Half of each pause is random. */
  const expectGrowingPauses = (failures: readonly Failure[], firstMs: number): void => {
    for (const [index, { retryInMs }] of failures.entries()) {
      const longestMs = firstMs * 2 ** index;
      expect(retryInMs).toBeGreaterThanOrEqual(longestMs / 2);
      expect(retryInMs).toBeLessThanOrEqual(longestMs);
    }
  };

  test('an unusable heartbeat interval ends the connection with a reason, and the pauses grow', async () => {
    gateway.setHeartbeatSecs(0);
    const daemon = await startDaemon();
    for (const [index, seconds] of [-5, 3_000_000, 0.5].entries()) {
      await waitUntil(() => failuresOf(daemon).length === index + 1);
      gateway.setHeartbeatSecs(seconds);
    }
    const failures = failuresOf(daemon);
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(
      new Set([
        'the gateway did not name its heartbeat interval, which must be from 1 to 3600 seconds (SERVICE_AGENT_HEARTBEAT_SECS)',
      ]),
    );
    expectGrowingPauses(failures, 500);
    expect(gateway.frames.filter(({ method }) => method === 'Agent.Heartbeat')).toEqual([]);
  });

  test('the pauses grow also after welcomes, until a connection lasts for one interval', async () => {
    gateway.onWelcomed(() => gateway.disconnect(1013));
    const daemon = await startDaemon();
    await waitUntil(() => failuresOf(daemon).length === 3);
    expectGrowingPauses(failuresOf(daemon), 500);
    gateway.onWelcomed(() => undefined);
    // The interval is one second; the next heartbeat but one comes after it.
    const seen = gateway.frames.length;
    const beats = () =>
      gateway.frames.slice(seen).filter(({ method }) => method === 'Agent.Heartbeat').length;
    await waitUntil(() => beats() >= 3);
    gateway.disconnect(1013);
    await waitUntil(() => failuresOf(daemon).length === 4);
    expectGrowingPauses(failuresOf(daemon).slice(3), 500);
  });

  test('moves without end are followed with growing pauses', async () => {
    gateway.onWelcomed(() => gateway.notify('Agent.Move'));
    const daemon = await startDaemon();
    await waitUntil(() => failuresOf(daemon).length === 2);
    expect(failuresOf(daemon)[0]?.reason).toBe('the gateway asked for another connection too soon');
    expectGrowingPauses(failuresOf(daemon), 1_000);
  });
});

const closeCodes = [
  [
    'another process replaced it',
    4000,
    'another process has connected with the token of this node',
  ],
  ['it was deregistered', 4001, 'this node was deregistered'],
] as const;
test.each(closeCodes)('it exits with its engines when %s', async (_why, code, sentence) => {
  const { daemon, port } = await deploy();
  gateway.disconnect(code);
  expect(await daemon.exited).toBe(1);
  expect(daemon.output()).toMatch(new RegExp(`^gpu-agent: ${sentence}$`, 'm'));
  expect(await serves(port)).toBe(false);
});

test('it exits when the gateway does not accept its token', async () => {
  const daemon = await startProcess({
    app: 'gpu-agent',
    args: ['--url', gateway.url, '--token', 'agt-wrong', '--engine', 'ollama'],
    readyPath: null,
  });
  expect(await daemon.exited).toBe(1);
  expect(daemon.output()).toContain('gpu-agent: the gateway does not accept this token');
});

const commandLines = [
  ['--help', ['--help'], 0, 'Usage: gpu-agent --url'],
  ['no settings', [], 1, 'AGENT_URL is required'],
  [
    'a missing file',
    ['--url', 'http://x', '--token', 't', '--config', '/missing.json'],
    1,
    'the configuration file /missing.json is invalid',
  ],
  ['--version', ['--version'], 0, '0.1.0'],
  ['an unknown option', ['--colour'], 1, "Unknown option '--colour'"],
  [
    'an unknown engine',
    ['--engine', 'abacus'],
    1,
    'AGENT_ENGINE must be one of ollama, vllm, llama.cpp',
  ],
] as const;
test.each(fullTable(commandLines, { small: 3 }))(
  'the command line: %s',
  async (_what, args, status, output) => {
    const daemon = await startProcess({ app: 'gpu-agent', args, readyPath: null });
    expect(await daemon.exited).toBe(status);
    expect(daemon.output()).toContain(output);
  },
);

test('GPUs are read with nvidia-smi where it is installed', async () => {
  await writeFile(join(folder, 'nvidia-smi'), '#!/bin/sh\necho "NVIDIA L4, 23034, 512, 37"\n', {
    mode: 0o755,
  });
  const daemon = await startProcess({
    app: 'gpu-agent',
    args: ['--url', gateway.url, '--token', TOKEN, '--engine', 'ollama'],
    env: { PATH: `${folder}:/usr/bin:/bin` },
    readyPath: null,
  });
  daemons.push(daemon);
  await connected();
  const gpus = [
    { name: 'NVIDIA L4', memory_total_mb: 23_034, memory_used_mb: 512, utilization: 37 },
  ];
  for (const name of ['Agent.Hello', 'Agent.Heartbeat'])
    expect(gateway.frames.find(({ method }) => method === name)?.params?.['gpus']).toEqual(gpus);
});
