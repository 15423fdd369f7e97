import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../corpus', import.meta.url));
const NAME_CHARS = 12;

/** A case that was a finding once, or that reaches far. */
interface CorpusEntry {
  readonly name: string;
  readonly case: unknown;
}

/** The kept cases of a target, in the order of their names. */
export function readCorpus(target: string): readonly CorpusEntry[] {
  const folder = join(FOLDER, target);
  return filesIn(folder).map((name) => {
    const entry = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      readonly case: unknown;
    };
    return { name, case: entry.case };
  });
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

/** Keeps a case; returns its file. */
export function saveToCorpus(target: string, each: unknown, finding: string): string {
  const folder = join(FOLDER, target);
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify(each);
  const name = createHash('sha256').update(text).digest('hex').slice(0, NAME_CHARS);
  const file = join(folder, `${name}.json`);
  const [finding1 = ''] = finding.split('\n');
  writeFileSync(
    file,
    `${JSON.stringify({ finding: finding1.slice(0, 200), case: each }, null, 2)}\n`,
  );
  return file;
}
