// Copies the migrations beside the compiled code, where a deployed package finds them.
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const prisma = pathOf('../../../prisma/');
const copy = pathOf('../dist/prisma/');

rmSync(copy, { recursive: true, force: true });
cpSync(`${prisma}migrations`, `${copy}migrations`, { recursive: true });
cpSync(`${prisma}schema.prisma`, `${copy}schema.prisma`);
