// Writes the Prisma client into src/generated. Works without a network: generating needs no schema engine, so the command
// line is pointed at a program that does nothing instead of downloading one.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const prisma = join(
  dirname(createRequire(import.meta.url).resolve('prisma/package.json')),
  'build',
  'index.js',
);

const { status, stdout, stderr, error } = spawnSync(
  process.execPath,
  [prisma, 'generate', '--no-hints'],
  {
    cwd: root,
    encoding: 'utf8',
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
      NO_COLOR: '1',
    },
  },
);
if (status !== 0) {
  process.stderr.write(`prisma generate failed: ${error?.message ?? ''}${stdout}${stderr}\n`);
  process.exit(1);
}
