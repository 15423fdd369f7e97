// Bundles the scripts that run in pages into the text of one expression, whose value has the exports of the entry.
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const SCRIPTS = 'scripts';

/** @param {'main' | 'json-value'} entry */
export function bundleInjected(entry) {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL(`../src/injected/${entry}.ts`, import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: SCRIPTS,
    target: 'es2023',
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
  });
  return `(() => {${outputFiles[0].text}return ${SCRIPTS}})()`;
}
