import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dockerfileText } from './dockerfile.ts';
import { infraFolder } from './infra-folder.ts';

const run = promisify(execFile);
const projectFolder = join(infraFolder, '..');

/** The SBOM of an app, made with the options of the Dockerfile. */
export async function makeSbom(app: string): Promise<unknown> {
  const options = /--filter "\$\{APP\}" sbom (.+) --out \/app\/sbom\.cdx\.json/.exec(
    dockerfileText,
  );
  if (options === null) throw new Error('the Dockerfile makes no SBOM');
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-sbom-'));
  try {
    const path = join(folder, 'sbom.cdx.json');
    const words = (options[1] ?? '').split(' ');
    await run('pnpm', ['--filter', app, 'sbom', ...words, '--out', path], { cwd: projectFolder });
    return JSON.parse(await readFile(path, 'utf8'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The names of what an app and its workspace packages depend on in production. */
export function productionDependencies(app: string): ReadonlySet<string> {
  const names = new Set<string>();
  function add(folder: string): void {
    const path = join(projectFolder, folder, 'package.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    for (const [name, version] of Object.entries({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
    })) {
      if (names.has(name)) continue;
      names.add(name);
      if (version.startsWith('workspace:')) add(folderOf(name));
    }
  }
  add(join('apps', app));
  return names;
}

function folderOf(name: string): string {
  const folder = name.replace('@model-gateway/', '');
  const isPackage = existsSync(join(projectFolder, 'packages', folder));
  return join(isPackage ? 'packages' : 'apps', folder);
}
