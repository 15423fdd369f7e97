import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preparedDataDir, startProcess, type TestProcess } from '@model-gateway/testkit';
import { build, type Plugin } from 'esbuild';
import { bundleOptions } from '../../../../scripts/bundle-options.mjs';

/** A line that a contributor adds to a list, with the import of what it names. */
export interface AddedLine {
  /** The file of the list. */
  readonly list: string;
  /** The module that the line names something of. */
  readonly module: string;
  readonly name: string;
}

export const ADMIN_TOKEN = 'the admin token of the tests';

const PROJECT = fileURLToPath(new URL('../../../..', import.meta.url));
const STANDALONE = join(PROJECT, 'apps', 'standalone');

/** A service of this repository, to whose sources one line was added. */
export interface ChangedService extends TestProcess {
  close(): Promise<void>;
}

export async function startChangedService(line: AddedLine): Promise<ChangedService> {
  // Below the app, so that the libraries that are not bundled are found.
  const folder = await mkdtemp(join(STANDALONE, 'node_modules', '.changed-'));
  const dataDir = await preparedDataDir();
  async function remove(): Promise<void> {
    await rm(folder, { recursive: true });
    await dataDir.remove();
  }
  try {
    await build({
      ...bundleOptions,
      entryPoints: [join(STANDALONE, 'src', 'main.ts')],
      outdir: folder,
      conditions: ['model-gateway-source'],
      plugins: [adding(line)],
    });
    const service = await startProcess({
      script: join(folder, 'main.js'),
      env: { SERVICE_DATA_DIR: dataDir.path, SERVICE_ADMIN_TOKEN: ADMIN_TOKEN },
    });
    return {
      ...service,
      async close() {
        await service.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Adds the line at the end of the list as the bundler reads it. */
const adding = ({ list, module, name }: AddedLine): Plugin => ({
  name: 'added line',
  setup(bundler) {
    bundler.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (path !== join(PROJECT, list)) return undefined;
      const text = await readFile(path, 'utf8');
      const imported = `import { ${name} } from ${JSON.stringify(join(PROJECT, module))};`;
      return {
        loader: 'ts',
        contents: `${imported}\n${text.replace(/,?\s*\];\s*$/, `,\n  ${name},\n];`)}`,
      };
    });
  },
});
