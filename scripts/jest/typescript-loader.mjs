// Module hooks that let Node run our TypeScript sources as they are.
import { transformSync } from '@swc/wasm-typescript';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export function resolve(specifier, context, nextResolve) {
  const conditions = specifier.startsWith('@model-gateway/')
    ? ['source', ...context.conditions]
    : context.conditions;
  return nextResolve(specifier, { ...context, conditions });
}

export async function load(url, context, nextLoad) {
  const { protocol, pathname } = new URL(url);
  if (protocol !== 'file:' || !pathname.endsWith('.ts')) return nextLoad(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  const { code } = transformSync(source, {
    mode: 'strip-only',
    sourceMap: false,
    filename: pathname,
    module: true,
  });
  return { format: 'module', source: code, shortCircuit: true };
}
