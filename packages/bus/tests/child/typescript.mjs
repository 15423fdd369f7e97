// Lets a child process of a test run the sources as they are: `node --import ./typescript.mjs --conditions=source …`.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const { transform } = await import('@swc/core');
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), {
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
    module: { type: 'es6' },
  });
  return { format: 'module', source: code, shortCircuit: true };
}
