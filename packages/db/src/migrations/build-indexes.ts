import type { Client } from 'pg';

const CONCURRENTLY = /\bINDEX CONCURRENTLY\b/;
const STATEMENT = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY "(\w+)" ON /;
const COMMENTS = /^--.*$/gm;

/** Whether a migration builds indexes without holding up writers, which Postgres does outside of transactions only. */
export const buildsIndexes = (sql: string): boolean =>
  CONCURRENTLY.test(sql.replaceAll(COMMENTS, ''));

/** Builds the indexes of a migration that are missing; an earlier attempt may have been broken off. */
export async function buildIndexes(client: Client, sql: string): Promise<void> {
  for (const { name, statement } of indexesOf(sql)) {
    const found = await client.query<{ valid: boolean }>(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(quote_ident($1))',
      [name],
    );
    if (found.rows[0]?.valid === true) continue;
    // Postgres leaves an index that it could not finish, and uses it for nothing.
    if (found.rows.length > 0) await client.query(`DROP INDEX CONCURRENTLY "${name}"`);
    await client.query(statement);
  }
}

const indexesOf = (sql: string) =>
  sql
    .replaceAll(COMMENTS, '')
    .split(';')
    .map((part) => part.trim())
    .filter((statement) => statement !== '')
    .map((statement) => {
      const name = STATEMENT.exec(statement)?.[1];
      if (name === undefined)
        throw new Error(
          `a migration that builds indexes concurrently holds nothing else: ${statement}`,
        );
      return { name, statement };
    });
