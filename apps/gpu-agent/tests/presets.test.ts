import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLog } from '@model-gateway/kernel';
import { engineSchema, type PresetName } from '../src/engine-spec.ts';
import { createEngines, type Engines } from '../src/engines.ts';
import type { ReadProgress } from '../src/progress-reader.ts';

const ENGINE = fileURLToPath(new URL('./child/chat-engine.mjs', import.meta.url));
const RUN = `exec '${process.execPath}' '${ENGINE}'`;

// Programs with these names that accept the options of the real ones and run the test engine.
const PROGRAMS = {
  ollama: `case $1 in
serve) ${RUN} --model m --host "\${OLLAMA_HOST%:*}" --port "\${OLLAMA_HOST##*:}" ;;
pull) echo "pulling $2: 45% 2.1 GB/4.7 GB" >&2; test "$2" = m ;;
*) exit 2 ;;
esac`,
  vllm: `test "$1 $2 $3 $5 $7" = 'serve m --served-model-name --host --port' || exit 2
${RUN} --model "$4" --host "$6" --port "$8"`,
  'llama-server': `test "$1 $2 $3 $5 $7" = '--hf-repo m --alias --host --port' || exit 2
${RUN} --model "$4" --host "$6" --port "$8" --health-failures 2`,
};

let folder = '';
let engines: Engines;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'presets-'));
  for (const [name, script] of Object.entries(PROGRAMS))
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
});
afterEach(async () => {
  await engines.stopAll();
  await rm(folder, { recursive: true });
});

const enginesOf = (entry: object): Engines =>
  createEngines({
    specs: { models: {}, default: engineSchema.parse(entry) },
    host: '127.0.0.1',
    env: { PATH: `${folder}:/usr/bin:/bin` },
    onChange: () => undefined,
    log: silentLog,
  });

test.each<PresetName>(['ollama', 'vllm', 'llama.cpp'])('a model runs under %s', async (preset) => {
  engines = enginesOf({ preset });
  const port = await engines.deploy('m', () => undefined);
  const listing = await (await fetch(`http://127.0.0.1:${port}/v1/models`)).json();
  expect(listing).toMatchObject({ data: [{ id: 'm' }] });
  expect(engines.list()).toEqual([{ model_id: 'm', status: 'ready', port }]);
});

test('a model under llama.cpp is ready when its health says so, not when it is listed', async () => {
  engines = enginesOf({ preset: 'llama.cpp' });
  const port = await engines.deploy('m', () => undefined);
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
});

test('a download reports its progress', async () => {
  engines = enginesOf({ preset: 'ollama' });
  const reported: ReadProgress[] = [];
  await engines.deploy('m', (progress) => reported.push(progress));
  expect(reported).toContainEqual({
    status: 'pulling',
    progress: 45,
    downloadedBytes: 2.1e9,
    totalBytes: 4.7e9,
  });
});

test('a model whose download fails is not deployed, and its processes are stopped', async () => {
  engines = enginesOf({ preset: 'ollama' });
  await expect(engines.deploy('unknown', () => undefined)).rejects.toThrow(
    /^downloading the model failed/,
  );
  expect(engines.list()).toMatchObject([{ model_id: 'unknown', status: 'failed' }]);
  const port = engines.portOf('unknown');
  await expect(fetch(`http://127.0.0.1:${port}/v1/models`)).rejects.toThrow();
});

test('a model that is not ready in time fails', async () => {
  engines = enginesOf({ command: ['sleep', '60'], ready_timeout_secs: 0.3, stop_timeout_secs: 1 });
  await expect(engines.deploy('m', () => undefined)).rejects.toThrow(
    'the model was not ready within 0.3 seconds',
  );
});

test('a missing program is named in the error', async () => {
  engines = enginesOf({ command: ['no-such-engine', '{port}'] });
  await expect(engines.deploy('m', () => undefined)).rejects.toThrow(/status 127.*no-such-engine/);
});

test('a model id cannot inject an option', async () => {
  engines = enginesOf({ preset: 'vllm' });
  await expect(engines.deploy('--host=0.0.0.0', () => undefined)).rejects.toThrow(
    'a model id must not look like an option',
  );
});

test('a model that is stopped while it starts is removed', async () => {
  engines = enginesOf({ command: ['sleep', '60'], stop_timeout_secs: 1 });
  const deployed = engines.deploy('m', () => undefined).catch((error: unknown) => error);
  await engines.stop('m');
  expect(await deployed).toMatchObject({ message: 'the model was stopped' });
  expect(engines.list()).toEqual([]);
});

test.each([
  ['neither a preset nor a command', {}],
  ['both', { preset: 'vllm', command: ['x'] }],
  ['an unknown preset', { preset: 'abacus' }],
  ['an unknown field', { command: ['x'], comand: ['y'] }],
  ['an empty command', { command: [] }],
])('an engine with %s is refused', (_what, entry) => {
  engines = enginesOf({ preset: 'vllm' });
  expect(engineSchema.safeParse(entry).success).toBe(false);
});
