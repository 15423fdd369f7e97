// Writes the Prisma client into src/generated. Works without a network: generating needs no schema engine, so the command
// line is pointed at a program that does nothing instead of downloading one.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renumberFields } from './renumber-fields.mjs';
import { unpackCompiler } from './unpack-compiler.mjs';

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

// The client works as it is written; these two make it smaller in memory.
const folder = fileURLToPath(new URL('../src/generated/internal/', import.meta.url));
const client = readFileSync(`${folder}class.ts`, 'utf8');
writeFileSync(`${folder}class.ts`, renumberFields(await unpackCompiler(client, folder)));
