// Writes the Prisma client into src/generated, unless it is there already. Works without a network: generating needs no schema
// engine, so the command line is pointed at a program that does nothing instead of downloading one.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const manifest = createRequire(import.meta.url).resolve('prisma/package.json');
const prisma = join(dirname(manifest), 'build', 'index.js');
/** The hash of everything that the generated client depends on. */
const stampFile = join(root, 'packages', 'db', 'src', 'generated', 'stamp');
const hash = createHash('sha256');
for (const file of [manifest, join(root, 'prisma.config.ts'), join(root, 'prisma/schema.prisma')])
  hash.update(readFileSync(file));
const stamp = hash.digest('hex');
if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) process.exit(0);

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
writeFileSync(stampFile, stamp);
