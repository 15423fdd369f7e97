import { describeError, StartupError } from '@model-gateway/kernel';

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
  return new StartupError(sentence(error, databaseUrl), { cause: error });
}

function sentence(error: unknown, databaseUrl: string): string {
  const { server, database } = parts(databaseUrl);
  const code = codeOf(error);
  const reason = describeError(error);
  if (UNREACHABLE_CODES.has(code) || /timeout|terminated/i.test(reason)) {
    return `cannot reach Postgres at ${server} (${code === '' ? reason : code}): check DATABASE_URL and that the server runs`;
  }
  switch (code) {
    case '28P01':
    case '28000':
      return `Postgres at ${server} refuses the user or the password in DATABASE_URL`;
    case '3D000':
      return `the database ${database} that DATABASE_URL names does not exist at ${server}`;
    case '42501':
      return `the user in DATABASE_URL may not change the database ${database} (${reason})`;
    case '55P03':
      return `another process has been migrating the database ${database} for too long: look for a stuck one, then start again`;
    case '57P03':
    case '53300':
      return `Postgres at ${server} takes no connections now (${reason}): start again when it does`;
    default:
      return `the database ${database} at ${server} could not be migrated and was left as it was: ${reason}`;
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
