import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createCommandLine } from './command-line.ts';

test('bash completes commands and options', async () => {
  const script = (await createCommandLine({}).runHere(['completion', 'bash'])).stdout;
  const complete = async (...words: readonly string[]) => {
    const typed = ['gateway', ...words].map((word) => `'${word}'`).join(' ');
    const { stdout } = await promisify(execFile)('bash', [
      '-c',
      `${script}\nCOMP_WORDS=(${typed}) COMP_CWORD=${words.length}\n_gateway\necho "\${COMPREPLY[@]}"`,
    ]);
    return stdout.trim().split(' ');
  };
  expect(await complete('ke')).toEqual(['keys']);
  expect(await complete('keys', 're')).toEqual(['revoke']);
  expect(await complete('--url', 'http://x', 'keys', 'create', '--pro')).toEqual(['--project']);
  expect(await complete('users', 'e')).toEqual(['erase']);
  expect(await complete('audit', '')).toEqual(expect.arrayContaining(['list', 'verify', 'export']));
  expect(await complete('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh']));
});
