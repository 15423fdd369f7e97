// The two most used MCP servers, and a tokenizer: downloaded on demand into a folder that git ignores.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../scripts/run-command.mjs';

const FOLDER = fileURLToPath(new URL('../.browser-peers', import.meta.url));

/** The peers and the tokenizer. */
const PACKAGES = {
  playwright: { name: '@playwright/mcp', version: '0.0.83', program: 'cli.js' },
  devtools: {
    name: 'chrome-devtools-mcp',
    version: '1.11.0',
    program: 'build/src/bin/chrome-devtools-mcp.js',
  },
  tokenizer: { name: 'gpt-tokenizer', version: '4.0.0', program: 'package.json' },
};

/**
 * Finds or downloads the peers: `{ playwright, devtools, tokens, missing }`. A package that cannot be downloaded is undefined and
 * named in `missing`.
 */
export async function ensurePeers() {
  const programs = {};
  const missing = [];
  for (const [key, each] of Object.entries(PACKAGES)) {
    programs[key] = await ensurePackage(each);
    if (programs[key] === undefined) missing.push(`${each.name} ${each.version}`);
  }
  const { playwright, devtools, tokenizer } = programs;
  return { playwright, devtools, tokens: tokenizer && tokenCounter(tokenizer), missing };
}

/** Each has its own folder, so that a failed download does not affect the others. */
async function ensurePackage({ name, version, program }) {
  const folder = join(FOLDER, name.replace('/', '-'));
  const manifestFile = join(folder, 'package.json');
  const manifest = `${JSON.stringify({ private: true, dependencies: { [name]: version } }, null, 2)}\n`;
  const path = join(folder, 'node_modules', name, program);
  if (existsSync(path) && readFileSync(manifestFile, 'utf8') === manifest) return path;
  process.stdout.write(`Downloading ${name} ${version}…\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(manifestFile, manifest);
  const flags = ['--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];
  const { ok } = await runCommand('npm', ['install', ...flags], { cwd: folder });
  if (ok && existsSync(path)) return path;
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

/** Counts the tokens of a text. */
function tokenCounter(manifest) {
  const { encode } = createRequire(manifest)('gpt-tokenizer/encoding/o200k_base');
  return (text) => encode(text).length;
}
