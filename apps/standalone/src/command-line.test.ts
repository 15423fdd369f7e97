import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLineOf } from './command-line.ts';

test('the command line is called by its script in a checkout, and by its path elsewhere', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-command-'));
  try {
    const program = join(folder, 'bin', 'model-gateway.mjs');
    await mkdir(join(folder, 'bin'));
    await writeFile(program, '');
    expect(commandLineOf({ npm_lifecycle_event: 'start' }, program)).toBe('npm run -s gateway --');
    expect(commandLineOf({}, program)).toBeUndefined();
    expect(commandLineOf({}, undefined)).toBeUndefined();
    await mkdir(join(folder, 'cli'));
    await writeFile(join(folder, 'cli', 'main.js'), '');
    // npm links the program.
    await symlink(program, join(folder, 'linked'));
    expect(commandLineOf({}, join(folder, 'linked'))).toBe(
      `node ${join(folder, 'cli', 'main.js')}`,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
