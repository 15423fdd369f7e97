import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort, startProcess, type TestProcess } from '@model-gateway/testkit';
import type { DeployedApps } from './deployed-apps.ts';
import { imageOf } from './dockerfile.ts';
import { find, readBase, type Container, type Manifest } from './manifest.ts';

type Environment = Readonly<Record<string, string>>;

interface ContainerOptions {
  readonly container: Container;
  readonly deployed: DeployedApps;
  /** The Secret of the installation. */
  readonly secrets: Environment;
  /** Where the volumes of the pod are. */
  readonly volumes: string;
  /** Variables to change; undefined removes one. */
  readonly changes?: Readonly<Record<string, string | undefined>>;
}

export interface ContainerCommand {
  readonly script: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

const READY_TIMEOUT_MS = 180_000;
/** On a busy machine a store may not respond in time; a process that ends because of that is restarted, as in a cluster. */
const STARTS_MAX = 3;

/** The app whose image a container runs. */
const appOf = ({ image }: Container): string => image.replace(/^.*\//, '').replace(/:.*$/, '');

/**
 * The process that a node of a cluster would run: the command of the manifest in the environment of the image and the manifest,
 * with the values of the Secret and the paths of the volumes on this machine.
 */
export function commandOf(options: ContainerOptions): ContainerCommand {
  const { container, deployed, secrets, volumes, changes = {} } = options;
  const app = appOf(container);
  // Tini only reaps orphans, which process 1 of this machine does too.
  const [program, script = '', ...rest] = container.command.filter(
    (word) => word !== 'tini' && word !== '--',
  );
  if (program !== 'node') throw new Error(`apps must be started with node, not ${program}`);
  const mounted = (value: string): string =>
    (container.volumeMounts ?? []).some(
      ({ mountPath }) => mountPath === value || dirname(value) === mountPath,
    )
      ? join(volumes, value)
      : value;
  mountConfig(container, volumes);
  const own = container.env.map(({ name, value, valueFrom }) => {
    const text = valueFrom === undefined ? value : secrets[valueFrom.secretKeyRef.key];
    if (text === undefined) throw new Error(`${name} has no value`);
    return [name, mounted(text)] as const;
  });
  const all = { ...imageOf(app).env, ...Object.fromEntries(own), ...changes };
  return {
    script: join(deployed.folderOf(app), script),
    args: [...rest, ...(container.args ?? [])],
    env: Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  };
}

/** Writes the files of the ConfigMap where the container has it. */
function mountConfig({ volumeMounts = [] }: Container, volumes: string): void {
  const mount = volumeMounts.find(({ name }) => name === 'config');
  if (mount === undefined) return;
  const { data } = find(readBase(), 'ConfigMap', 'model-gateway-config') as Manifest & {
    readonly data: Readonly<Record<string, string>>;
  };
  const folder = join(volumes, mount.mountPath);
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(data)) writeFileSync(join(folder, name), content);
}

/**
 * Starts a server like a pod and waits until its readiness probe succeeds. Only the port differs, because processes on this machine
 * share the ports.
 */
export async function startPod(
  options: ContainerOptions,
  starts: number = STARTS_MAX,
): Promise<TestProcess> {
  try {
    return await startOnce(options);
  } catch (error) {
    if (starts <= 1) throw error;
    return startPod(options, starts - 1);
  }
}

async function startOnce(options: ContainerOptions): Promise<TestProcess> {
  const port = await freePort();
  const changes = { ...options.changes, SERVICE_PORT: String(port) };
  return startProcess({
    ...commandOf({ ...options, changes }),
    port,
    readyPath: options.container.readinessProbe?.httpGet?.path ?? null,
    readyTimeoutMs: READY_TIMEOUT_MS,
  });
}

/** Runs a container until it succeeds, with a limited number of attempts. */
export async function runJob(
  options: ContainerOptions,
): Promise<{ readonly status: number; readonly output: string }> {
  let ended = await runContainer(options);
  for (let starts = 1; ended.status !== 0 && starts < STARTS_MAX; starts += 1)
    ended = await runContainer(options);
  return ended;
}

/** Runs a container to its end. */
export async function runContainer(
  options: ContainerOptions,
): Promise<{ readonly status: number; readonly output: string }> {
  const running = await startProcess({ ...commandOf(options), readyPath: null });
  const status = await running.exited;
  return { status, output: running.output() };
}
