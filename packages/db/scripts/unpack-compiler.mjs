import { readFileSync, writeFileSync } from 'node:fs';

const CLIENT = 'internal/class.ts';
const COMPILER = 'internal/query-compiler.wasm';

// What Prisma writes for Node, whichever of its compilers the schema asks for.
const LOADING =
  /const \{ wasm \} = await import\("(@prisma\/client\/runtime\/[\w.-]+\.wasm-base64\.mjs)"\)\s+return await decodeBase64AsWasm\(wasm\)/;

const READING = `const { readFile } = await import('node:fs/promises')
    return new WebAssembly.Module(await readFile(new URL('./query-compiler.wasm', import.meta.url)))`;

/**
 * Lets the generated client read its query compiler from a file. As it is written it imports a module that holds the
 * compiler as a text, and a module is never forgotten: every process would keep that text and the source around it, some
 * 9 MB for something that is read once.
 */
export async function unpackCompiler(folder) {
  const file = `${folder}${CLIENT}`;
  const client = readFileSync(file, 'utf8');
  const module = LOADING.exec(client)?.[1];
  if (module === undefined)
    throw new Error(`${file} loads its compiler in a way that is new to us`);
  const { wasm } = await import(module);
  writeFileSync(`${folder}${COMPILER}`, Buffer.from(wasm, 'base64'));
  writeFileSync(file, client.replace(LOADING, READING));
}
