import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listMigrations } from '../src/migrations/migrations.ts';

const SCRIPT = fileURLToPath(new URL('../scripts/copy-assets.mjs', import.meta.url));

let folder = '';
let prisma = '';
let copy = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-assets-'));
  prisma = join(folder, 'prisma');
  copy = join(folder, 'dist', 'prisma');
  for (const name of ['1_first', '2_second', '3_third']) {
    await mkdir(join(prisma, 'migrations', name), { recursive: true });
    await writeFile(join(prisma, 'migrations', name, 'migration.sql'), `-- ${name}`);
  }
  await writeFile(join(prisma, 'schema.prisma'), '// one');
  copyAssets();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const copyAssets = (): void =>
  void execFileSync(process.execPath, [SCRIPT, prisma, copy], { stdio: 'pipe' });

test('a renamed and a removed migration leave the copy', async () => {
  await rename(join(prisma, 'migrations', '2_second'), join(prisma, 'migrations', '2_renamed'));
  await rm(join(prisma, 'migrations', '3_third'), { recursive: true });
  copyAssets();
  expect(await listMigrations(copy)).toEqual(['1_first', '2_renamed']);
  expect(await listMigrations(copy)).toEqual(await listMigrations(prisma));
});

test('changed files are written again, and others are not touched', async () => {
  const unchanged = join(copy, 'migrations', '1_first', 'migration.sql');
  const changed = join('migrations', '2_second', 'migration.sql');
  const before = await stat(unchanged);
  await writeFile(join(prisma, changed), '-- changed');
  await writeFile(join(prisma, 'schema.prisma'), '// two');
  copyAssets();
  expect(await readFile(join(copy, changed), 'utf8')).toBe('-- changed');
  expect(await readFile(join(copy, 'schema.prisma'), 'utf8')).toBe('// two');
  expect((await stat(unchanged)).mtimeMs).toBe(before.mtimeMs);
});

test('the copy is made again after a build that came from the cache', async () => {
  const { scripts } = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  ) as { readonly scripts: Readonly<Record<string, string>> };
  expect(scripts.build).toContain('scripts/copy-assets.mjs');
  expect(scripts.stamp).toBe('node scripts/copy-assets.mjs');
});
