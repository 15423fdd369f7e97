import { describeError, StartupError, startupError } from '@model-gateway/kernel';

const UNREACHABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ENOENT',
]);

/** One sentence that explains why a process could not use its database at start, without the password of the URL. */
export function explainStartFailure(error: unknown, databaseUrl: string): StartupError {
  if (error instanceof StartupError) return error;
  const { server, database } = parts(databaseUrl);
  const code = codeOf(error);
  const reason = describeError(error);
  // Postgres itself gives every error a code, also where a lock was not free in time.
  if (UNREACHABLE_CODES.has(code) || (code === '' && /timeout|terminated/i.test(reason))) {
    const why = code === '' ? reason : code;
    return startupError('postgres_unreachable', { server, reason: why }, error);
  }
  switch (code) {
    case '28P01':
    case '28000':
      return startupError('postgres_refused', { server }, error);
    case '3D000':
      return startupError('database_missing', { server, database }, error);
    case '42501':
      return startupError('database_forbidden', { database, reason }, error);
    case '53100':
      return startupError('postgres_disk_full', { server, reason }, error);
    case '55P03':
      return startupError('migration_locked', { database }, error);
    case '57P03':
    case '53300':
      return startupError('postgres_busy', { server, reason }, error);
    default:
      return startupError('migration_failed', { server, database, reason }, error);
  }
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

function parts(databaseUrl: string): { readonly server: string; readonly database: string } {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : null;
  if (url === null) return { server: 'the given address', database: 'given' };
  return {
    server: `${url.hostname === '' ? 'the local socket' : url.hostname}:${url.port === '' ? '5432' : url.port}`,
    database: `"${url.pathname.slice(1)}"`,
  };
}
