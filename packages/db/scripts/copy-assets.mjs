// Copies the migrations beside the compiled code, where a deployed package finds them, and removes those that are gone. Also runs
// after a build that came out of turbo's cache, which adds files and removes none. Takes other folders as arguments.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const [prisma = pathOf('../../../prisma/'), copy = pathOf('../dist/prisma/')] =
  process.argv.slice(2);

mirror(join(prisma, 'migrations'), join(copy, 'migrations'));
mirror(join(prisma, 'schema.prisma'), join(copy, 'schema.prisma'));

function mirror(source, target) {
  if (!statSync(source).isDirectory()) return copyFile(source, target);
  mkdirSync(target, { recursive: true });
  const names = readdirSync(source);
  for (const name of readdirSync(target))
    if (!names.includes(name)) rmSync(join(target, name), { recursive: true });
  for (const name of names) mirror(join(source, name), join(target, name));
}

/** A process may be reading the copy, so it is written only when it differs. */
function copyFile(source, target) {
  if (existsSync(target) && readFileSync(source).equals(readFileSync(target))) return;
  copyFileSync(source, target);
}
