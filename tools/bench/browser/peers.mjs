// The two most used MCP servers, and a tokenizer.
import { createRequire } from 'node:module';
import { ensurePackage } from '../ensure-package.mjs';

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

/** Counts the tokens of a text. */
function tokenCounter(manifest) {
  const { encode } = createRequire(manifest)('gpt-tokenizer/encoding/o200k_base');
  return (text) => encode(text).length;
}
