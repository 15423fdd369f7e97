// Writes the next migration: the difference between the schema that the migrations describe so far, which is kept in
// prisma/migrations/snapshot.prisma, and prisma/schema.prisma. Needs no database.
// Usage: pnpm --filter @model-gateway/db make-migration NAME
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { diffSchemas } from '../tools/diff-schemas.ts';

const name = process.argv[2] ?? '';
if (!/^[a-z][a-z0-9_]*$/.test(name)) {
  process.stderr.write(
    'usage: make-migration NAME, with a NAME of lower-case letters, digits and underscores\n',
  );
  process.exit(1);
}

const folder = fileURLToPath(new URL('../../../prisma/', import.meta.url));
const snapshot = `${folder}migrations/snapshot.prisma`;
const schema = readFileSync(`${folder}schema.prisma`, 'utf8');
const earlier = existsSync(snapshot) ? readFileSync(snapshot, 'utf8') : undefined;

const sql = await diffSchemas(earlier, schema);
if (sql.trim() === '' || sql.includes('This is an empty migration')) {
  process.stdout.write('The migrations already describe this schema.\n');
} else {
  const earlierOnes = readdirSync(`${folder}migrations`).filter((entry) => /^\d{4}_/.test(entry));
  const number = String(earlierOnes.length + 1).padStart(4, '0');
  const target = `${folder}migrations/${number}_${name}`;
  mkdirSync(target, { recursive: true });
  writeFileSync(`${target}/migration.sql`, sql);
  process.stdout.write(`Wrote ${target}/migration.sql\n`);
}
writeFileSync(snapshot, schema);
