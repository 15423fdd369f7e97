// Packages to compare with: downloaded from npm on demand, each into its own folder, which git ignores.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../scripts/run-command.mjs';

const FOLDER = fileURLToPath(new URL('.peers', import.meta.url));
const FLAGS = ['--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];

/** Finds or downloads a package and returns the path of a file of it; undefined if the registry is unreachable. */
export async function ensurePackage({ name, version, program, overrides }) {
  const folder = join(FOLDER, name.replace('/', '-'));
  const manifestFile = join(folder, 'package.json');
  const wanted = { private: true, dependencies: { [name]: version }, overrides };
  const manifest = `${JSON.stringify(wanted, null, 2)}\n`;
  const path = join(folder, 'node_modules', name, program);
  if (existsSync(path) && readFileSync(manifestFile, 'utf8') === manifest) return path;
  process.stdout.write(`Downloading ${name} ${version}…\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(manifestFile, manifest);
  const { ok } = await runCommand('npm', ['install', ...FLAGS], { cwd: folder });
  if (ok && existsSync(path)) return path;
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}
