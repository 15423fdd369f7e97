// The Portkey gateway from npm, the most similar peer. It is downloaded on demand into a folder that git ignores.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../scripts/run-command.mjs';

/** The version of the comparison. */
export const PORTKEY_VERSION = '1.15.2';

const NAME = '@portkey-ai/gateway';
const MANIFEST = {
  private: true,
  dependencies: { [NAME]: PORTKEY_VERSION },
  // With later versions of its HTTP server, Portkey fails every stream with 500 because it changes immutable headers.
  overrides: { '@hono/node-server': '1.13.8' },
};
const FOLDER = fileURLToPath(new URL('../.peers', import.meta.url));
const MANIFEST_FILE = join(FOLDER, 'package.json');
const HOME = join(FOLDER, 'node_modules', NAME);

/** Finds or downloads the pinned Portkey; undefined if the registry is unreachable. */
export async function ensurePortkey() {
  const program = join(HOME, 'build', 'start-server.js');
  const manifest = `${JSON.stringify(MANIFEST, null, 2)}\n`;
  if (existsSync(program) && readFileSync(MANIFEST_FILE, 'utf8') === manifest) return program;
  process.stdout.write(`Downloading ${NAME} ${PORTKEY_VERSION}…\n`);
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(MANIFEST_FILE, manifest);
  const flags = ['--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];
  const { ok } = await runCommand('npm', ['install', ...flags], { cwd: FOLDER });
  if (ok && existsSync(program)) return program;
  rmSync(FOLDER, { recursive: true, force: true });
  return undefined;
}

/** The command that runs it, without its web page. */
export function portkeyCommand({ node, program, port }) {
  return [node, program, `--port=${port}`, '--headless'];
}
