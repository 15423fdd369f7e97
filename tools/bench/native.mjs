// Compiles the two C programs of the benchmark, which must be faster than everything that they measure.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../scripts/run-command.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const FOLDER = join(HERE, '.build');
const FLAGS = ['-O2', '-Wall', '-Wextra', '-std=gnu11'];

/** Returns the paths of the upstream and the load generator; compiles them if their sources changed. */
export async function ensureNative() {
  const compiler = await findCompiler();
  await mkdir(FOLDER, { recursive: true });
  return {
    upstream: await compile(compiler, 'upstream'),
    load: await compile(compiler, 'load'),
  };
}

async function findCompiler() {
  for (const name of ['gcc', 'cc', 'clang']) {
    if ((await runCommand(name, ['--version'])).ok) return name;
  }
  throw new Error(
    'the benchmark compiles its upstream and its load generator and needs a C compiler: install gcc (Debian: apt-get install gcc libc6-dev)',
  );
}

async function compile(compiler, name) {
  const folder = join(HERE, name);
  const files = readdirSync(folder).map((file) => join(folder, file));
  const program = join(FOLDER, name);
  const changedAt = Math.max(...files.map((file) => statSync(file).mtimeMs));
  if (existsSync(program) && statSync(program).mtimeMs > changedAt) return program;
  const sources = files.filter((file) => file.endsWith('.c'));
  const { ok, output } = await runCommand(compiler, [...FLAGS, '-o', program, ...sources]);
  if (!ok) throw new Error(`${name} could not be compiled:\n${output}`);
  return program;
}
