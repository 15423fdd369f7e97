import { writeFileSync } from 'node:fs';

const FILE = 'query-compiler.wasm';

// What Prisma writes for Node, whichever of its compilers the schema asks for.
const LOADING =
  /const \{ wasm \} = await import\("(@prisma\/client\/runtime\/[\w.-]+\.wasm-base64\.mjs)"\)\s+return await decodeBase64AsWasm\(wasm\)/;

const READING = `const { readFile } = await import('node:fs/promises')
    return new WebAssembly.Module(await readFile(new URL('./${FILE}', import.meta.url)))`;

/**
 * Lets the generated client read its query compiler from a file beside it. As it is written it imports a module that holds
 * the compiler as a text, and a module is never forgotten: every process would keep that text and the source around it,
 * some 9 MB for something that is read once.
 */
export async function unpackCompiler(client, folder) {
  // Two builds at a time write the same file.
  if (client.includes(READING)) return client;
  const module = LOADING.exec(client)?.[1];
  if (module === undefined)
    throw new Error('the client loads its compiler in a way that is new to us');
  const { wasm } = await import(module);
  writeFileSync(`${folder}${FILE}`, Buffer.from(wasm, 'base64'));
  return client.replace(LOADING, () => READING);
}
