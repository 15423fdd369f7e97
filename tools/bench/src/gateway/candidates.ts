import { resolve } from 'node:path';
import type { Target } from '../load/loads.ts';
import type { Upstream } from '../load/upstream.ts';
import { ensurePackage } from '../measure/npm-package.ts';
import { startProgram, type Running } from '../measure/processes.ts';
import { cpuMs, familyOf } from '../measure/proc.ts';
import { builtIn, startService } from './service.ts';

/** What is measured: it answers chat completions at a port. */
export interface Candidate {
  readonly name: string;
  readonly label: string;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Its processes, stores included; none for the upstream itself. */
  pids(): readonly number[];
  cpuMs(): number;
  /** Waits until it has done what it does after its answers. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export interface Setting {
  readonly upstream: Upstream;
  readonly models: readonly string[];
  /** Where what is measured may run; anywhere if undefined. */
  readonly cores: string | undefined;
}

const KEY = 'sk-bench';
const PORTKEY_VERSION = '1.15.2';
const PROXY = resolve(import.meta.dirname, 'metered-proxy.ts');

/** The name of the row to which all others are compared. */
export const REFERENCE = 'metered';

const isDone = (): Promise<void> => Promise.resolve();

function candidate(
  fields: Pick<Candidate, 'name' | 'label' | 'port' | 'headers' | 'stop'> & Partial<Candidate>,
  roots: readonly number[],
): Candidate {
  const pids = (): readonly number[] => roots.flatMap(familyOf);
  // No process is no measurement.
  const cost = (): number => (roots.length === 0 ? NaN : cpuMs(pids()));
  return { pids, cpuMs: cost, settled: isDone, ...fields };
}

/** The upstream without any proxy. */
export const direct = ({ upstream }: Setting): Promise<Candidate> =>
  Promise.resolve(
    candidate(
      { name: 'direct', label: 'upstream alone', port: upstream.port, headers: {}, stop: isDone },
      [],
    ),
  );

/** The bare metered proxy; more processes share its port. */
export async function metered({ upstream, cores }: Setting, processes = 1): Promise<Candidate> {
  const origin = new URL(upstream.url).origin;
  const redis = await startProgram({
    name: 'redis-server',
    command: (port) => ['redis-server', '--port', `${port}`, '--bind', '127.0.0.1', '--save', ''],
    cores: undefined,
  });
  const start = (shared?: number): Promise<Running> =>
    startProgram({
      name: 'the metered proxy',
      command: (port) => [process.execPath, PROXY, `${port}`, origin, `${redis.port}`, KEY],
      cores,
      ...(shared === undefined ? {} : { port: shared }),
    });
  const first = await start();
  const others = await Promise.all(Array.from({ length: processes - 1 }, () => start(first.port)));
  const all = [first, ...others];
  return candidate(
    {
      name: processes === 1 ? REFERENCE : `${REFERENCE}-${processes}`,
      label: `metered node:http proxy${processes === 1 ? '' : `, ${processes} processes`}`,
      port: first.port,
      headers: { authorization: `Bearer ${KEY}` },
      async stop() {
        await Promise.all(all.map((each) => each.stop()));
        await redis.stop();
      },
    },
    all.map(({ pid }) => pid),
  );
}

/** The most similar gateway on npm, without accounts or metering; undefined if it is not there. */
export async function portkey({ upstream, cores }: Setting): Promise<Candidate | undefined> {
  const program = ensurePackage({
    name: '@portkey-ai/gateway',
    version: PORTKEY_VERSION,
    program: 'build/start-server.js',
    // With a later one it fails every stream, because it changes headers that cannot change.
    overrides: { '@hono/node-server': '1.13.8' },
  });
  if (program === undefined) return undefined;
  const started = await startProgram({
    name: 'Portkey',
    command: (port) => [process.execPath, program, `--port=${port}`, '--headless'],
    environment: () => ({ NODE_ENV: 'production' }),
    cores,
  });
  return candidate(
    {
      name: 'portkey',
      label: `Portkey ${PORTKEY_VERSION}, counts nothing`,
      port: started.port,
      headers: {
        authorization: `Bearer ${KEY}`,
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': upstream.url,
      },
      stop: () => started.stop(),
    },
    [started.pid],
  );
}

/** Our service; `checkout` is the folder of another one. */
export async function ours(
  { upstream, models, cores }: Setting,
  { processes = 1, checkout }: { readonly processes?: number; readonly checkout?: string } = {},
): Promise<Candidate> {
  const service = await startService({
    cores,
    backends: [{ name: 'bench', url: upstream.url, models }],
    environment: processes === 1 ? {} : { SERVICE_PROCESSES: `${processes}` },
    ...(checkout === undefined ? {} : { program: [builtIn(checkout)] }),
  });
  return candidate(
    {
      name: checkout ?? (processes === 1 ? 'ours' : `ours-${processes}`),
      label: checkout ?? `our service${processes === 1 ? '' : `, ${processes} processes`}`,
      port: service.port,
      headers: { authorization: `Bearer ${service.key}` },
      settled: () => service.recorded(),
      stop: () => service.stop(),
    },
    [service.pid],
  );
}

const MESSAGES = [
  { role: 'system', content: 'You are a helpful assistant. Answer in one short sentence.' },
  { role: 'user', content: 'What does the quick brown fox do, and to whom does it do it?' },
];

/** A chat request to a candidate; a model other than `bench` streams. */
export const chatOf = ({ port, headers }: Candidate, model = 'bench'): Target => ({
  port,
  request: {
    headers,
    body: { model, messages: MESSAGES, ...(model === 'bench' ? {} : { stream: true }) },
  },
});
