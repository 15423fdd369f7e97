import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { infraFolder } from './infra-folder.ts';

/** The output of `make-env.mjs`: secrets for one installation. */
export function makeEnvironmentFile(): string {
  return execFileSync(process.execPath, [join(infraFolder, 'make-env.mjs'), '-'], {
    encoding: 'utf8',
  });
}

/** The variables of such a file. */
export function readEnvironmentFile(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => /^\w+=/.test(line));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}
