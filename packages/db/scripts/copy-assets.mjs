// Puts what is not code beside the compiled code, where a deployed package finds it: the migrations and the compiler.
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const prisma = pathOf('../../../prisma/');
const copy = pathOf('../dist/prisma/');
const compiler = 'generated/internal/query-compiler.wasm';

rmSync(copy, { recursive: true, force: true });
cpSync(`${prisma}migrations`, `${copy}migrations`, { recursive: true });
cpSync(`${prisma}schema.prisma`, `${copy}schema.prisma`);
cpSync(pathOf(`../src/${compiler}`), pathOf(`../dist/${compiler}`));
