import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandLine } from './command-line.ts';

/** Every command about prices, with a catalogue of one model. */
export async function managePrices(gateway: CommandLine, folder: string): Promise<void> {
  const catalogue = join(folder, 'catalogue.json');
  await writeFile(catalogue, JSON.stringify({ 'new-model': { input_cost_per_token: 1e-6 } }));
  expect(await gateway.json(['prices', 'import', catalogue])).toEqual({
    imported: 1,
    skipped: 0,
    removed: 0,
  });
  const listed = await gateway.runHere(['prices', 'list']);
  expect(listed.stdout).toMatch(/^new-model +1 in, 0 out per million tokens +catalogue/m);
  const explained = await gateway.runHere(['prices', 'explain', 'new-model']);
  expect(explained.stdout).toBe(
    'new-model: 1 in, 0 out per million tokens (catalogue, new-model)\n',
  );
  const unknown = await gateway.runHere(['prices', 'explain', 'no-such-model']);
  expect(unknown.stdout).toContain('no price');
  const unread = await gateway.runHere(['prices', 'import', 'no-such-file.json']);
  expect(unread).toMatchObject({ status: 2, stderr: expect.stringContaining('cannot read') });
}
