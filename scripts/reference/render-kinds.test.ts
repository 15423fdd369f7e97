import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kindViews } from '../../packages/backends/src/index.ts';
import { renderKindsModule, renderKindsTable } from './render-kinds.mjs';

const read = (...path: readonly string[]) => readFile(join(...path), 'utf8');

test('the table of the kinds of backends matches the code (pnpm build && node scripts/reference.mjs)', async () => {
  const page = await read('docs', 'backends', 'README.md');
  expect(page).toBe(renderKindsTable(page, kindViews()));
  for (const { name } of kindViews()) expect(page).toContain(`| \`${name}\``);
});

test('the help of the command line names the kinds of backends', async () => {
  const module = await read('apps', 'cli', 'src', 'commands', 'backend-kinds.ts');
  expect(module).toBe(renderKindsModule(kindViews()));
});
