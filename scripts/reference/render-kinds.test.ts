import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kindViews } from '../../packages/backends/src/index.ts';
import { renderKindsModule, renderKindsTable } from './render-kinds.mjs';

const read = (...path: readonly string[]) => readFile(join(...path), 'utf8');

test('the table of the kinds of backends matches the code (pnpm build && pnpm reference)', async () => {
  const page = await read('docs', 'backends', 'README.md');
  const pages = new Set((await readdir(join('docs', 'backends'))).map((name) => name.slice(0, -3)));
  expect(page).toBe(renderKindsTable(page, kindViews(), pages));
  for (const { name } of kindViews()) expect(page).toContain(`| [\`${name}\`](${name}.md)`);
});

test('the help of the command line names the kinds of backends', async () => {
  const module = await read('apps', 'cli', 'src', 'commands', 'backend-kinds.ts');
  expect(module).toBe(renderKindsModule(kindViews()));
});
