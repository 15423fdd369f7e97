// Module hooks that let Node run our TypeScript sources as they are.
import { transformSync } from '@swc/wasm-typescript';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Code without types, in files that are named by the hash of their source: each worker needs the same code. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/typescript/', import.meta.url));
mkdirSync(CACHE, { recursive: true });

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
  return { format: 'module', source: await withoutTypes(source, pathname), shortCircuit: true };
}

async function withoutTypes(source, filename) {
  const cached = join(CACHE, createHash('sha256').update(source).digest('hex'));
  try {
    return await readFile(cached, 'utf8');
  } catch {
    const options = { mode: 'strip-only', sourceMap: false, filename, module: true };
    const { code } = transformSync(source, options);
    // Workers may write the same file at once.
    const unfinished = `${cached}.${process.pid}`;
    await writeFile(unfinished, code);
    await rename(unfinished, cached);
    return code;
  }
}
