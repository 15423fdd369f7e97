import type { ClientBase } from 'pg';
import { Prisma } from '../generated/client.ts';

/** As long as one query over a day of millions of rows may take. */
export const LONG_QUERY_MS_MAX = 10 * 60_000;

const BEGINS_WITH_MARK = /^\s*\/\* long query \*\//u;

/** Begins a query that may take longer than others. */
export const LONG_QUERY = Prisma.raw('/* long query */');

/** Lets queries that begin with the mark take their time, on a connection whose queries have a limit. */
export function allowLongQueries(client: ClientBase): void {
  const query: unknown = client.query.bind(client);
  if (typeof query !== 'function') return;
  Object.assign(client, {
    query: (config: unknown, ...rest: readonly unknown[]): unknown =>
      Reflect.apply(query, client, [isLong(config) ? withLimit(config) : config, ...rest]),
  });
}

const withLimit = (config: object): object => ({ ...config, query_timeout: LONG_QUERY_MS_MAX });

const isLong = (config: unknown): config is object =>
  typeof config === 'object' &&
  config !== null &&
  'text' in config &&
  typeof config.text === 'string' &&
  BEGINS_WITH_MARK.test(config.text);
