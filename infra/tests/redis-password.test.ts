import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, waitUntil } from '@model-gateway/testkit';
import { parse, parseAllDocuments } from 'yaml';
import { infraFolder } from './infra-folder.ts';

const PASSWORD = 'a-password-for-redis';

interface Compose {
  readonly services: { readonly redis: { readonly command: readonly string[] } };
}
interface Workload {
  readonly kind: string;
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly command: readonly string[] }[] };
    };
  };
}

function composeCommand(): readonly string[] {
  const text = readFileSync(join(infraFolder, 'compose.yaml'), 'utf8');
  const { command } = (parse(text, { merge: true }) as Compose).services.redis;
  return command.map((part) => part.replaceAll('$$', '$'));
}

function manifestCommand(): readonly string[] {
  const text = readFileSync(join(infraFolder, 'k8s/overlays/dev/redis.yaml'), 'utf8');
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Workload);
  const workload = documents.find(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment');
  return workload?.spec.template.spec.containers[0]?.command ?? [];
}

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'model-gateway-redis-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

const run = promisify(execFile);
async function ping(port: number, password?: string): Promise<string> {
  const env = {
    PATH: process.env['PATH'],
    ...(password === undefined ? {} : { REDISCLI_AUTH: password }),
  };
  const { stdout } = await run('redis-cli', ['-p', String(port), 'ping'], { env }).catch(() => ({
    stdout: '',
  }));
  return stdout.trim();
}

/** The arguments of every process, as everyone on the machine can read them. */
async function allArguments(): Promise<string> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const texts = ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

test.each([
  { file: 'compose.yaml', command: composeCommand },
  { file: 'the manifest', command: manifestCommand },
])('Redis of $file has a password, which no process has as an argument', async ({ command }) => {
  const port = await freePort();
  const { stdout: real } = await run('sh', ['-c', 'command -v redis-server']);
  await program('docker-entrypoint.sh', 'exec "$@"');
  await program('redis-server', `cd ${folder} && exec ${real.trim()} --port ${port} "$@"`);
  const [name = '', ...args] = command();
  const redis = spawn(name, args, {
    env: { PATH: `${folder}:${process.env['PATH']}`, REDIS_PASSWORD: PASSWORD },
    stdio: 'ignore',
  });
  const exited = once(redis, 'exit');
  try {
    await waitUntil(async () => (await ping(port, PASSWORD)) === 'PONG', { what: 'Redis' });
    expect(await ping(port)).toContain('NOAUTH');
    expect(await allArguments()).not.toContain(PASSWORD);
  } finally {
    await run('redis-cli', ['-p', String(port), 'shutdown', 'nosave'], {
      env: { PATH: process.env['PATH'], REDISCLI_AUTH: PASSWORD },
    }).catch(() => redis.kill());
    await exited;
  }
});
