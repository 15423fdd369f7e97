// Writes the commit that is being built into the compiled code, or `dev` where there is no git commit.
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = process.argv[2] ?? fileURLToPath(new URL('../dist/build-hash.js', import.meta.url));
const before = readFileSync(file, 'utf8');
const after = before.replace(/(BUILD_HASH = )'\w*'/, `$1'${commit() ?? 'dev'}'`);
// A process may be importing the file: it is written only when it changes, and atomically.
if (after !== before) {
  writeFileSync(`${file}.new`, after);
  renameSync(`${file}.new`, file);
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--verify', 'HEAD'], {
      cwd: dirname(file),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}
