import type { TestDatabase } from './test-database.ts';

/** Everything that a database consists of, one sentence each: `column users.email` → `character varying(254) NOT NULL`. */
export type Catalog = ReadonlyMap<string, string>;

// Tables without the partitions, which come and go, and without the table that Prisma keeps for itself.
const TABLES = `
  SELECT c.oid, c.relname, c.relkind FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    AND NOT c.relispartition AND c.relname <> '_prisma_migrations'`;

const QUERIES = [
  `SELECT 'table ' || t.relname AS item, CASE t.relkind WHEN 'p' THEN 'partitioned' ELSE 'plain' END AS is
   FROM (${TABLES}) t`,

  `SELECT 'column ' || t.relname || '.' || a.attname AS item,
     format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
       || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') AS is
   FROM (${TABLES}) t
   JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
   LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum`,

  // The index of a partitioned table is written with ONLY, and is otherwise the same.
  `SELECT 'index ' || i.relname AS item, replace(pg_get_indexdef(i.oid), ' ON ONLY ', ' ON ') AS is
   FROM (${TABLES}) t
   JOIN pg_index x ON x.indrelid = t.oid
   JOIN pg_class i ON i.oid = x.indexrelid`,

  // NOT NULL is part of the column.
  `SELECT 'constraint ' || t.relname || '.' || c.conname AS item, pg_get_constraintdef(c.oid) AS is
   FROM (${TABLES}) t
   JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype <> 'n'`,

  `SELECT 'trigger ' || t.relname || '.' || g.tgname AS item, pg_get_triggerdef(g.oid) AS is
   FROM (${TABLES}) t
   JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal`,

  `SELECT 'function ' || p.proname AS item, pg_get_functiondef(p.oid) AS is
   FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`,
];

export async function readCatalog(database: TestDatabase): Promise<Catalog> {
  const catalog = new Map<string, string>();
  for (const query of QUERIES) {
    for (const row of await database.query<{ item: string; is: string }>(query))
      catalog.set(row.item, row.is);
  }
  return catalog;
}

/** What one catalog has and the other has not, or has differently; sorted. */
export function compareCatalogs(left: Catalog, right: Catalog): readonly string[] {
  const differences = [...new Set([...left.keys(), ...right.keys()])].flatMap((item) => {
    const [first, second] = [left.get(item), right.get(item)];
    if (first === second) return [];
    if (second === undefined) return [`only in the first: ${item}`];
    if (first === undefined) return [`only in the second: ${item}`];
    return [`different: ${item} (${first} / ${second})`];
  });
  return differences.toSorted();
}
