// Writes the scripts that run in pages as texts, in the place of the module that bundles them.
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleInjected } from './bundle-injected.mjs';

const dist = new URL('../dist/', import.meta.url);
const texts = { injectedSource: 'main', jsonFormSource: 'json-value' };
const lines = Object.entries(texts).map(
  ([name, entry]) => `export const ${name} = ${JSON.stringify(bundleInjected(entry))};\n`,
);
writeFileSync(new URL('injected-source.js', dist), lines.join(''));
rmSync(fileURLToPath(new URL('injected', dist)), { recursive: true, force: true });
