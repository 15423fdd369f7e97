import type { ClientBase } from 'pg';
import { z } from 'zod';

/** Postgres: a write on a server that only reads, such as a primary that was replaced and is a standby now. */
const READ_ONLY_SQL_STATE = '25006';

const failureSchema = z.object({ code: z.literal(READ_ONLY_SQL_STATE) });

/**
 * Closes a connection whose server no longer takes writes, so that the pool replaces it: a new connection reaches the new
 * primary, while this one would be used again and again.
 */
export function leaveReadOnlyServer(client: ClientBase): void {
  const query: unknown = client.query.bind(client);
  if (typeof query !== 'function') return;
  Object.assign(client, {
    query: (...values: readonly unknown[]): unknown => {
      const answer: unknown = Reflect.apply(query, client, values);
      if (answer instanceof Promise) answer.catch((error: unknown) => closeAfter(client, error));
      return answer;
    },
  });
}

function closeAfter(client: ClientBase, error: unknown): void {
  if (!failureSchema.safeParse(error).success) return;
  const end: unknown = 'end' in client ? client.end : undefined;
  if (typeof end !== 'function') return;
  const ended: unknown = Reflect.apply(end, client, []);
  Promise.resolve(ended).catch(() => undefined);
}
