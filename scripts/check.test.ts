import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LINT_OPTIONS } from './check.mjs';

const modules = resolve(import.meta.dirname, '..', 'node_modules');
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checked-'));
  await mkdir(join(folder, 'node_modules'));
  for (const name of ['.bin', 'oxlint-tsgolint'])
    await symlink(join(modules, name), join(folder, 'node_modules', name));
  const compilerOptions = { lib: ['es2023'], types: [], strict: true, noUnusedLocals: true };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
});
afterAll(() => rm(folder, { recursive: true }));

async function lint(
  ...lines: readonly string[]
): Promise<{ readonly status: unknown; readonly output: string }> {
  await writeFile(join(folder, 'checked.ts'), `${lines.join('\n')}\n`);
  const args = [join(modules, 'oxlint/bin/oxlint'), ...LINT_OPTIONS, 'checked.ts'];
  return new Promise((settle) => {
    execFile(process.execPath, args, { cwd: folder }, (error, output, errors) => {
      settle({ status: error?.code ?? 0, output: output + errors });
    });
  });
}

test('the lint also finds what the compiler would', async () => {
  const { status, output } = await lint(
    "export const count: number = 'one';",
    'const unused = 1;',
    'export const { title } = document;',
    'Promise.resolve();',
  );
  for (const problem of ['TS2322', 'TS6133', 'TS2584', 'no-floating-promises'])
    expect(output).toContain(problem);
  expect(status).toBe(1);
});

test('and accepts what is right', async () => {
  expect(await lint('export const count: number = 1;')).toMatchObject({ status: 0 });
});
