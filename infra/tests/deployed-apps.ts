import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { infraFolder } from './infra-folder.ts';

/** The folders of deployed apps, as in their images. */
export interface DeployedApps {
  folderOf(app: string): string;
  remove(): Promise<void>;
}

const run = promisify(execFile);

// Uses only the store of the installation, which has checked the lock file already; checking the age of releases again would need
// the registry.
const FROM_STORE = ['--offline', '--config.minimum-release-age=0'];

/** Deploys apps as the Dockerfile does. */
export async function deployApps(apps: readonly string[]): Promise<DeployedApps> {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-deployed-'));
  const folderOf = (app: string): string => join(folder, app);
  for (const app of apps)
    await run('pnpm', ['--filter', app, 'deploy', '--prod', ...FROM_STORE, folderOf(app)], {
      cwd: join(infraFolder, '..'),
    });
  return {
    folderOf,
    // Of so many files much cheaper than the function of Node.
    async remove() {
      await run('rm', ['-rf', folder]);
    },
  };
}
