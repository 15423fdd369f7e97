// The two MCP servers that people use today, and the tokenizer of a model: fetched on demand into a folder that git ignores.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../scripts/run-command.mjs';

const FOLDER = fileURLToPath(new URL('../.browser-peers', import.meta.url));
const MANIFEST_FILE = join(FOLDER, 'package.json');

/** The versions that we compare ourselves with. */
export const PEER_VERSIONS = {
  '@playwright/mcp': '0.0.83',
  'chrome-devtools-mcp': '1.11.0',
  'gpt-tokenizer': '4.0.0',
};

/** Where the peers are; undefined when the registry is out of reach. */
export async function ensurePeers() {
  const manifest = `${JSON.stringify({ private: true, dependencies: PEER_VERSIONS }, null, 2)}\n`;
  const modules = join(FOLDER, 'node_modules');
  const isThere = existsSync(modules) && readFileSync(MANIFEST_FILE, 'utf8') === manifest;
  if (!isThere) {
    process.stdout.write(`Fetching ${Object.keys(PEER_VERSIONS).join(', ')}…\n`);
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(MANIFEST_FILE, manifest);
    const flags = ['--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];
    const { ok } = await runCommand('npm', ['install', ...flags], { cwd: FOLDER });
    if (!ok) {
      rmSync(FOLDER, { recursive: true, force: true });
      return undefined;
    }
  }
  const { encode } = createRequire(MANIFEST_FILE)('gpt-tokenizer/encoding/o200k_base');
  return {
    folder: FOLDER,
    playwright: join(modules, '@playwright/mcp/cli.js'),
    devtools: join(modules, 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js'),
    /** How many tokens a text has for a model. */
    tokens: (text) => encode(text).length,
  };
}
