// Module hooks that let Node run our TypeScript sources as they are. They have a thread of their own, where reading a file at
// once takes less work than a promise of it.
import { transformSync } from '@swc/wasm-typescript';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Code without types, in files that are named by the hash of their source: each worker needs the same code. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/typescript/', import.meta.url));
mkdirSync(CACHE, { recursive: true });

export function resolve(specifier, context, nextResolve) {
  // A relative path has one meaning, and no symbolic link leads out of our sources.
  if (specifier.startsWith('.') && specifier.endsWith('.ts'))
    return {
      url: new URL(specifier, context.parentURL).href,
      format: 'module',
      shortCircuit: true,
    };
  const conditions = specifier.startsWith('@model-gateway/')
    ? ['model-gateway-source', ...context.conditions]
    : context.conditions;
  return nextResolve(specifier, { ...context, conditions });
}

export function load(url, context, nextLoad) {
  if (!url.startsWith('file:')) return nextLoad(url, context);
  const { pathname } = new URL(url);
  const isTypeScript = pathname.endsWith('.ts');
  if (!isTypeScript && context.format !== 'module') return nextLoad(url, context);
  const text = readFileSync(fileURLToPath(url), 'utf8');
  const source = isTypeScript ? withoutTypes(text, pathname) : text;
  return { format: 'module', source, shortCircuit: true };
}

function withoutTypes(source, filename) {
  const cached = join(CACHE, createHash('sha256').update(source).digest('hex'));
  try {
    return readFileSync(cached, 'utf8');
  } catch {
    const options = { mode: 'strip-only', sourceMap: false, filename, module: true };
    const { code } = transformSync(source, options);
    // Workers may write the same file at once.
    const unfinished = `${cached}.${process.pid}`;
    writeFileSync(unfinished, code);
    renameSync(unfinished, cached);
    return code;
  }
}
