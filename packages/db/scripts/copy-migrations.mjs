// Puts the migrations beside the compiled code, where a deployed package finds them.
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const from = fileURLToPath(new URL('../../../prisma/', import.meta.url));
const to = fileURLToPath(new URL('../dist/prisma/', import.meta.url));

rmSync(to, { recursive: true, force: true });
cpSync(`${from}migrations`, `${to}migrations`, { recursive: true });
cpSync(`${from}schema.prisma`, `${to}schema.prisma`);
