import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProgram } from '../../apps/cli/src/app.ts';
import { renderCommandLine } from './render-command-line.mjs';

test('the command line reference matches the code (pnpm build && node scripts/reference.mjs)', async () => {
  const written = await readFile(join('docs', 'reference', 'command-line.md'), 'utf8');
  const program = createProgram(process, () => () => Promise.resolve());
  expect(written).toBe(renderCommandLine(program));
});

test('the help of every command has an example that begins with the command', () => {
  let printed = '';
  const program = createProgram(process, () => () => Promise.resolve()).configureOutput({
    writeOut: (text) => (printed += text),
  });
  const commands = program.commands.flatMap((one) =>
    one.commands.length > 0 ? one.commands : one,
  );
  expect(commands.length).toBeGreaterThan(14);
  for (const command of commands) {
    printed = '';
    command.configureOutput({ writeOut: (text) => (printed += text) }).outputHelp();
    expect(printed).toMatch(new RegExp(`Examples?:\\n[^]*gateway .*${command.name()}`));
  }
});
