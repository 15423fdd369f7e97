// `pnpm --filter bench trace` prints the files that run for one streamed request, by package: in the whole service, but without
// what runs only now and then.
import { resolve } from 'node:path';
import { freePort } from '@model-gateway/kernel';
import { startService } from '../gateway/service.ts';
import { startUpstream, streamedModel } from '../load/upstream.ts';
import { print } from '../measure/table.ts';

const WARM_UP = 30;
/** A file that runs in each of them belongs to the request. */
const TRACED = 20;
const ROOT = resolve(import.meta.dirname, '../../../..');
const MODEL = streamedModel(4, 1);
const messages = [{ role: 'user', content: 'Hi' }];
const CASES = {
  '/v1/chat/completions': { model: MODEL, stream: true, messages },
  '/v1/messages': { model: MODEL, stream: true, messages, max_tokens: 9 },
};

const upstream = await startUpstream([MODEL]);
const tracePort = await freePort();
const service = await startService({
  cores: undefined,
  program: [
    '--conditions=model-gateway-source',
    `--import=${resolve(import.meta.dirname, 'called-files.ts')}`,
    resolve(ROOT, 'apps/standalone/src/main.ts'),
  ],
  backends: [{ name: 'trace', url: upstream.url, models: [MODEL] }],
  environment: { TRACE_PORT: `${tracePort}` },
});
try {
  for (const [path, body] of Object.entries(CASES)) {
    for (let count = 0; count < WARM_UP; count += 1) await ask(path, body);
    const times = new Map<string, number>();
    for (let count = 0; count < TRACED; count += 1) {
      await called();
      await ask(path, body);
      for (const file of await called()) times.set(file, (times.get(file) ?? 0) + 1);
    }
    const files = [...times].flatMap(([file, count]) => (count === TRACED ? [file] : []));
    show(`A stream of ${path}`, files.toSorted());
  }
} finally {
  await service.stop();
  upstream.close();
}

async function ask(path: string, body: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
}

async function called(): Promise<readonly string[]> {
  const response = await fetch(`http://127.0.0.1:${tracePort}`);
  return (await response.json()) as readonly string[];
}

function show(title: string, files: readonly string[]): void {
  const packageOf = (file: string): string => file.split('/').slice(0, 2).join('/');
  print(`\n${title}: ${files.length} files\n`);
  for (const name of new Set(files.map(packageOf))) {
    const own = files.filter((file) => packageOf(file) === name);
    const short = own.map((file) => file.slice(`${name}/src/`.length, -'.ts'.length));
    print(`${name}: ${own.length}\n  ${short.join(', ')}`);
  }
}
