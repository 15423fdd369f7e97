import { ANSWER_TTL_SECS_MAX, ServiceError } from '@model-gateway/contracts';

/** How a request uses the cache. */
export interface CacheUse {
  /** How old an answer may be, and how long a new one is stored. */
  readonly ttlMs: number;
  /** Whether a stored answer is taken. */
  readonly reads: boolean;
}

/** What the header of a request says. */
interface CacheDirectives {
  readonly ttlSecs?: number;
  readonly noCache?: boolean;
  readonly noStore?: boolean;
}

interface AllowedTtls {
  readonly keySecs: number | null;
  readonly routeSecs: number | undefined;
}

const MS_PER_SECOND = 1_000;
const TTL = /^ttl=(\d{1,9})$/;

/**
 * How a request uses the cache: by its key and its route, of which the shorter time counts, and by its header, which can only
 * use it less. Undefined where the cache is off; `bypass` where only this request does not want it.
 */
export function cacheUse(
  { keySecs, routeSecs }: AllowedTtls,
  header: string | undefined,
): CacheUse | 'bypass' | undefined {
  const directives = header === undefined ? undefined : parseCacheHeader(header);
  if (keySecs === null && routeSecs === undefined) return undefined;
  if (directives?.noStore === true || directives?.ttlSecs === 0) return 'bypass';
  const secs = Math.min(
    keySecs ?? Infinity,
    routeSecs ?? Infinity,
    directives?.ttlSecs ?? Infinity,
    ANSWER_TTL_SECS_MAX,
  );
  return { ttlMs: secs * MS_PER_SECOND, reads: directives?.noCache !== true };
}

function parseCacheHeader(header: string): CacheDirectives {
  const parts = header.split(',').map((part) => parseDirective(part.trim().toLowerCase()));
  return Object.assign({}, ...parts) as CacheDirectives;
}

function parseDirective(part: string): CacheDirectives {
  if (part === 'no-cache') return { noCache: true };
  if (part === 'no-store') return { noStore: true };
  const secs = TTL.exec(part)?.[1];
  if (secs !== undefined) return { ttlSecs: Number(secs) };
  throw new ServiceError(
    'invalid_request',
    "the header x-service-cache takes 'ttl=<seconds>', 'no-cache' and 'no-store'",
  );
}
