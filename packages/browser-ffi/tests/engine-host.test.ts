import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { silentLog } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { startEngineHost, type EngineHost } from '../src/engine-host.ts';
import type { HostRequest } from '../src/host-messages.ts';
import { createEngineLibraries, type EngineLibraries } from './engine-library.ts';

const program = fileURLToPath(new URL('../dist/engine-host-main.js', import.meta.url));
const TIMEOUT_MS = 10_000;
const HANG_MS = 300;

let libraries: EngineLibraries;
let library: string;
let server: Server;
let proxy: string;
let host: EngineHost;
let events: string[];
let ends: string[];

beforeAll(async () => {
  libraries = await createEngineLibraries();
  library = await libraries.build();
  server = createServer(echo);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  await libraries.remove();
});

function startHost(): void {
  events = [];
  ends = [];
  host = startEngineHost({
    program,
    log: silentLog,
    environment: process.env,
    onEvent: (event) => events.push(event),
    onEnd: (reason) => ends.push(reason),
  });
}

/** Answers every message with itself, and those for a call that is not "known" as not supported. */
function echo(socket: Socket): void {
  let received = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 5 && received.length >= 5 + received.readUInt32BE(1)) {
      const text = received.subarray(5, 5 + received.readUInt32BE(1));
      const isUnknown =
        received.toString('latin1', 0, 1) === 'c' && !text.toString().startsWith('known');
      const head = Buffer.alloc(8);
      head.writeUInt32BE(isUnknown ? 2 : 0, 0);
      head.writeUInt32BE(text.length, 4);
      socket.write(Buffer.concat([head, text]));
      received = received.subarray(5 + text.length);
    }
  });
}

const ask = (request: HostRequest, timeoutMs = TIMEOUT_MS) => host.request(request, timeoutMs);
const navigate = (url: string, timeoutMs?: number) => ask({ kind: 'navigate', url }, timeoutMs);
const open = (path: string, through: string | null = proxy) =>
  ask({
    kind: 'open',
    library: path,
    backend: 'servo',
    options: {
      url: 'about:blank',
      proxy: through,
      viewport: { width: 800, height: 600 },
      user_data_dir: '/nowhere/profile',
    },
  });

describe('a library that is open', () => {
  let opened: unknown;

  beforeAll(async () => {
    startHost();
    opened = await open(library);
  });

  afterAll(() => host.close());

  test('it answers, with text and bytes of any size and alphabet', async () => {
    expect(opened).toEqual({
      status: 0,
      json: '["navigate","evaluate","screenshot","events"]',
    });
    const long = `héllo wörld 👋 ${'x'.repeat(2_000_000)}`;
    expect(await ask({ kind: 'evaluate', source: long })).toEqual({ status: 0, json: long });
    expect(await ask({ kind: 'screenshot', params: '{}' })).toEqual({
      status: 0,
      json: null,
      bytes: new Uint8Array(Buffer.from('{}')),
    });
    expect(await ask({ kind: 'call', method: 'known', params: '{"a":1}' })).toEqual({
      status: 0,
      json: 'known {"a":1}',
    });
    expect(await ask({ kind: 'call', method: 'click', params: '{}' })).toMatchObject({ status: 2 });
  });

  test('all memory of the library is freed', async () => {
    for (let round = 0; round < 20; round += 1) {
      await ask({ kind: 'evaluate', source: 'x' });
      await ask({ kind: 'screenshot', params: 'x' });
    }
    expect(await navigate('http://memory/')).toEqual({ status: 1, json: '{"message":"0 texts"}' });
  });

  test('calls that come at once are made one after the other', async () => {
    const sources = Array.from({ length: 20 }, (_, index) => `${index}`);
    const answers = await Promise.all(sources.map((source) => ask({ kind: 'evaluate', source })));
    expect(answers).toEqual(sources.map((json) => ({ status: 0, json })));
  });

  test('events come from any thread', async () => {
    await navigate('http://event/#{"type":"navigated","url":"x"}');
    await waitUntil(() => events.length === 2);
    expect(events).toEqual(Array(2).fill('{"type":"navigated","url":"x"}'));
  });

  test('a caller that leaves does not end an engine that is only slow', async () => {
    const leaving = new AbortController();
    const answer = host.request({ kind: 'evaluate', source: 'slow' }, TIMEOUT_MS, leaving.signal);
    leaving.abort();
    await expect(answer).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(await ask({ kind: 'evaluate', source: 'next' })).toEqual({ status: 0, json: 'next' });
  });
});

describe('a process for one library', () => {
  beforeEach(startHost);

  afterEach(() => host.close());

  test('a library with the least that is allowed works, and knows no calls', async () => {
    await expect(open(await libraries.build('TEST_MINIMAL'))).resolves.toEqual({
      status: 0,
      json: '[]',
    });
    expect(await ask({ kind: 'call', method: 'known', params: '{}' })).toEqual({
      status: 2,
      json: null,
    });
  });

  test.each([
    {
      why: 'of another ABI',
      definition: 'TEST_ABI=7',
      message: 'it uses ABI 7, but this tool uses ABI 1',
    },
    {
      why: 'of another engine',
      definition: 'TEST_ID="firefox"',
      message: 'it is the engine "firefox", not "servo"',
    },
    {
      why: 'without a function',
      definition: 'browser_engine_screenshot=renamed',
      message: 'it has no function browser_engine_screenshot',
    },
  ])('a library $why is refused', async ({ definition, message }) => {
    expect(await open(await libraries.build(definition))).toEqual({
      problem: 'wrong-abi',
      message,
    });
  });

  test('a file that is no library is refused with the error of the system', async () => {
    expect(await open(fileURLToPath(import.meta.url))).toMatchObject({
      problem: 'not-loaded',
      message: expect.stringMatching(/invalid ELF header|not a mach-o|slice is not valid/i),
    });
  });

  test('an engine that does not start reports the reason', async () => {
    expect(await open(library, null)).toEqual({
      problem: 'not-created',
      message: '{"code":"NO_DISPLAY","message":"there is no display"}',
    });
  });

  test('a call that hangs is a time-out, the engine is given up, and this process lives', async () => {
    await open(library);
    await expect(navigate('http://hang/', HANG_MS)).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'the engine did not finish navigate within 300 ms.',
    });
    // At once, so that the next call does not go to an engine that is just ending.
    expect(ends).toHaveLength(1);
    await waitUntil(() => !isRunning(host.pid));
    await expect(navigate('http://a.test/')).rejects.toMatchObject({ code: 'BROWSER_CRASHED' });
    expect(ends).toEqual(['the engine did not finish navigate within 300 ms.']);
  });

  test('a library that crashes takes nothing else with it', async () => {
    await open(library);
    await expect(navigate('http://crash/')).rejects.toMatchObject({
      code: 'BROWSER_CRASHED',
      message: "the engine's process ended (SIGABRT).",
    });
    expect(ends).toEqual(["the engine's process ended (SIGABRT)"]);
  });

  test('closing ends the process, also one that hangs, and is no crash', async () => {
    await open(library);
    const hanging = navigate('http://hang/');
    await Promise.all([
      expect(hanging).rejects.toMatchObject({ code: 'BROWSER_CRASHED' }),
      host.close(),
    ]);
    await host.close();
    expect(isRunning(host.pid)).toBe(false);
    expect(ends).toEqual([]);
  });
});

function isRunning(pid: number | null): boolean {
  try {
    return pid !== null && process.kill(pid, 0);
  } catch {
    return false;
  }
}
