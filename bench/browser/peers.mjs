// The two MCP servers that people use today, and the tokenizer of a model: fetched on demand into a folder that git ignores.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../scripts/run-command.mjs';

const FOLDER = fileURLToPath(new URL('../.browser-peers', import.meta.url));

/** What we compare ourselves with, and what counts tokens. */
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
 * Finds the peers, or fetches them: `{ playwright, devtools, tokens, missing }`. What the registry does not give is undefined
 * and named in `missing`.
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

/** Each lies in a folder of its own, so that one that cannot be had takes nobody with it. */
async function ensurePackage({ name, version, program }) {
  const folder = join(FOLDER, name.replace('/', '-'));
  const manifestFile = join(folder, 'package.json');
  const manifest = `${JSON.stringify({ private: true, dependencies: { [name]: version } }, null, 2)}\n`;
  const path = join(folder, 'node_modules', name, program);
  if (existsSync(path) && readFileSync(manifestFile, 'utf8') === manifest) return path;
  process.stdout.write(`Fetching ${name} ${version}…\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(manifestFile, manifest);
  const flags = ['--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];
  const { ok } = await runCommand('npm', ['install', ...flags], { cwd: folder });
  if (ok && existsSync(path)) return path;
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

/** Counts the tokens that a text has for a model. */
function tokenCounter(manifest) {
  const { encode } = createRequire(manifest)('gpt-tokenizer/encoding/o200k_base');
  return (text) => encode(text).length;
}
