import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandLine } from './command-line.ts';

/** Checks a file that is wrong, and one that is right. */
export async function checkConfig(gateway: CommandLine, folder: string): Promise<void> {
  const file = join(folder, 'gateway.yaml');
  await writeFile(file, 'aliases:\n  - { alias: fast, target: "${ALIAS_TARGET}" }\n');
  expect(await gateway.runHere(['config', 'check', file])).toMatchObject({
    status: 1,
    stdout: `${file}:2:20 aliases[0].target needs the environment variable ALIAS_TARGET, which is not set\n`,
  });
  const env = { ALIAS_TARGET: 'gpt-4o-mini' };
  expect(await gateway.runHere(['config', 'check', file], { env })).toMatchObject({
    status: 0,
    stdout: `${file} is right: 1 entries\n`,
  });
  expect(await gateway.runHere(['config', 'check', file, '--plan'], { env })).toMatchObject({
    status: 0,
    stdout: '+ aliases fast\n1 to add, 0 to change, 0 to remove, 0 unchanged\n',
  });
  expect(await gateway.json(['config', 'check', file], { env })).toMatchObject({
    problems: [],
    plan: { added: [{ section: 'aliases', name: 'fast', reason: null }] },
  });
  const unread = await gateway.runHere(['config', 'check', 'no-such-file.yaml']);
  expect(unread).toMatchObject({ status: 2, stderr: expect.stringContaining('cannot read') });
}
