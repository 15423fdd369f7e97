import { UsageRejectedError } from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import { DatabaseError } from 'pg';
import { z } from 'zod';
import { Prisma } from '../generated/client.ts';

const UNAVAILABLE_KINDS = new Set([
  'AuthenticationFailed',
  'ConnectionClosed',
  'DatabaseAccessDenied',
  'DatabaseDoesNotExist',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TlsConnectionError',
  'TooManyConnections',
]);

// Codes of Prisma: not reachable, the pool or a transaction timed out.
const UNAVAILABLE_CODES = /^(P1\d{3}|P2024|P2028|E[A-Z_]+)$/;
// Postgres: connection exceptions, insufficient resources, operator intervention, a server that only reads.
const UNAVAILABLE_SQL_STATES = /^(08|53|57P|25006)/;
// Postgres: a text, or a text inside JSON, with a NUL character.
const UNSTORABLE_SQL_STATES: ReadonlySet<string> = new Set(['22021', '22P05']);
// Postgres: a serialization failure, a deadlock.
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01']);
// Postgres, besides: who may connect, time limits, locks, failures of its system.
const PASSING_SQL_STATES = /^(08|25006|25P03|28|3D|40|53|55|57|58)/;
const UNIQUE_VIOLATION = '23505';
const NO_PARTITION = 'no partition of relation';
// Postgres: data exceptions, integrity constraint violations, program limits exceeded.
const REFUSED_SQL_STATES = /^(22|23|54)/;
// The driver has no codes for these.
const UNAVAILABLE_TEXTS =
  /timeout exceeded when trying to connect|connection terminated|query read timeout|connection error|after calling end on the pool|socket hang up/i;

const failureSchema = z.object({
  code: z.string().optional().catch(undefined),
  message: z.string().catch(''),
  meta: z
    .object({
      driverAdapterError: z.object({
        cause: z.object({
          kind: z.string(),
          originalCode: z.string().optional(),
          constraint: z.object({ index: z.string().optional() }).optional().catch(undefined),
        }),
      }),
    })
    .optional()
    .catch(undefined),
});

/** What a failed database call means for its caller. */
export type StoreFailure =
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unstorable' }
  /** The values themselves are at fault. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'taken'; readonly constraint: string | undefined }
  | { readonly kind: 'other' };

/** Classifies a failure by the reaction to it: wait for the store, try again, refuse, or report. */
export function classifyFailure(error: unknown): StoreFailure {
  const parsed = failureSchema.safeParse(error);
  if (!parsed.success || error instanceof ServiceError || error instanceof UsageRejectedError)
    return { kind: 'other' };
  const { code = '', meta } = parsed.data;
  const cause = meta?.driverAdapterError.cause;
  const sqlState = sqlStateOf(error, parsed.data);
  if (cause?.kind === 'TransactionWriteConflict' || code === 'P2034' || CONFLICTS.has(sqlState))
    return { kind: 'conflict' };
  if (cause?.kind === 'UniqueConstraintViolation' || sqlState === UNIQUE_VIOLATION)
    return { kind: 'taken', constraint: cause?.constraint?.index };
  // The partition of its month was dropped meanwhile, and is made the next time.
  if (parsed.data.message.includes(NO_PARTITION)) return { kind: 'conflict' };
  if (UNSTORABLE_SQL_STATES.has(sqlState)) return { kind: 'unstorable' };
  if (REFUSED_SQL_STATES.test(sqlState)) return { kind: 'refused' };
  return { kind: isUnavailable(parsed.data) ? 'unavailable' : 'other' };
}

/** Of a statement that was sent without Prisma the code is the one of Postgres. */
const sqlStateOf = (error: unknown, { code, meta }: z.output<typeof failureSchema>): string =>
  (error instanceof DatabaseError ? code : meta?.driverAdapterError.cause.originalCode) ?? '';

/** Whether the database is away or busy: the same values may be stored later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'store_unavailable';
  const { kind } = classifyFailure(error);
  if (kind === 'unavailable' || kind === 'conflict') return true;
  const parsed = failureSchema.safeParse(error);
  return parsed.success && PASSING_SQL_STATES.test(sqlStateOf(error, parsed.data));
}

function isUnavailable({ code = '', message, meta }: z.output<typeof failureSchema>): boolean {
  if (UNAVAILABLE_CODES.test(code)) return true;
  const cause = meta?.driverAdapterError.cause;
  if (cause === undefined)
    return UNAVAILABLE_SQL_STATES.test(code) || UNAVAILABLE_TEXTS.test(message);
  return UNAVAILABLE_KINDS.has(cause.kind) || UNAVAILABLE_SQL_STATES.test(cause.originalCode ?? '');
}

/**
 * The error that leaves this package: `store_unavailable` when the database is unavailable, `missing_fields` for a text
 * that it cannot store, the original otherwise.
 */
export function translateFailure(error: unknown): unknown {
  switch (classifyFailure(error).kind) {
    case 'unavailable':
      return new ServiceError('store_unavailable', 'the database is not available', {
        cause: error,
      });
    case 'unstorable':
      return new ServiceError('missing_fields', 'Invalid params: texts cannot contain NUL', {
        cause: error,
      });
    default:
      return error;
  }
}

const OF_THE_VALUES: ReadonlySet<StoreFailure['kind']> = new Set([
  'refused',
  'taken',
  'unstorable',
]);

/** Whether the written values caused the failure, so that a retry cannot help. */
export function isFaultOfValues(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'missing_fields';
  return (
    error instanceof Prisma.PrismaClientValidationError ||
    OF_THE_VALUES.has(classifyFailure(error).kind)
  );
}
