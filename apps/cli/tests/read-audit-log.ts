import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandLine } from './command-line.ts';

interface AuditLogPlace {
  readonly folder: string;
  /** The account that made changes before. */
  readonly email: string;
}

/** Every command about the audit log. */
export async function readAuditLog(
  gateway: CommandLine,
  { folder, email }: AuditLogPlace,
): Promise<void> {
  const filters = ['--action', 'users.update', '--actor', email, '--from', '2026-01-01'];
  const listed = await gateway.runHere(['audit', 'list', ...filters, '--limit', '1']);
  expect(listed.stdout).toMatch(/^SEQ .*\n +\d+ .* operator@example\.com +users\.update +user:/);
  expect(listed.stderr).toMatch(/^There are more: --before \d+\n$/);
  const none = await gateway.runHere(['audit', 'list', '--to', '2020-01-01']);
  expect(none.stdout).toBe('No entries.\n');
  expect(await gateway.runHere(['audit', 'list', '--from', 'soon'])).toMatchObject({ status: 2 });

  const verified = (await gateway.json(['audit', 'verify'])) as Readonly<Record<string, unknown>>;
  expect(verified).toMatchObject({ ok: true, broken: null, checked: verified['after'] });
  const { after, hash } = verified;
  const rest = ['audit', 'verify', '--after', String(after), '--hash', String(hash)];
  expect(await gateway.json(rest)).toMatchObject({ ok: true, checked: 0, after, hash });
  const wrong = ['audit', 'verify', '--after', '1', '--hash', '0'.repeat(64)];
  const broken = await gateway.runHere(wrong);
  expect(broken).toMatchObject({ status: 1, stdout: expect.stringContaining('Entry 1 does not') });

  const file = join(folder, 'audit.jsonl');
  expect(await gateway.json(['audit', 'export', '--output', file])).toEqual({ file });
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(Number(after));
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ seq: after, hash });
  const twice = await gateway.runHere(['audit', 'export', '--output', file]);
  expect(twice).toMatchObject({ status: 2, stderr: expect.stringContaining('exists already') });
  const printed = await gateway.runHere(['audit', 'export', '--after', String(Number(after) - 1)]);
  expect(printed.stdout).toBe(`${lines.at(-1)}\n`);
  const refused = await gateway.runHere(['audit', 'export', '--from', 'soon']);
  expect(refused).toMatchObject({ status: 2, stdout: '' });
}
