import { readFileSync } from 'node:fs';
import { describeError, startupError } from '@model-gateway/kernel';
import type { RedisOptions } from 'ioredis';
import type { RedisAddress } from './redis-address.ts';
import { slotConnector } from './slot-connector.ts';

/** How Redis is reached besides its URL: nothing of it for a server of its own. */
export interface RedisAccess {
  readonly redisCaFile?: string | undefined;
  readonly redisSentinels?: readonly RedisAddress[] | undefined;
  readonly redisMaster?: string | undefined;
  readonly redisSentinelUser?: string | undefined;
  readonly redisSentinelPassword?: string | undefined;
  readonly redisCluster?: readonly RedisAddress[] | undefined;
}

/** A Redis, and how it is reached. */
export interface RedisTarget extends RedisAccess {
  readonly url: string;
  /** The prefix of every key. */
  readonly prefix: string;
}

/** Options of the client. */
export type AccessOptions = Pick<
  RedisOptions,
  | 'Connector'
  | 'enableTLSForSentinelMode'
  | 'name'
  | 'sentinelCommandTimeout'
  | 'sentinelPassword'
  | 'sentinelRetryStrategy'
  | 'sentinelTLS'
  | 'sentinelUsername'
  | 'sentinels'
  | 'tls'
>;

const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 2_000;
const RETRY_JITTER_MS = 50;
const SENTINEL_TIMEOUT_MS = 1_000;

/** How long to wait before the next attempt to connect. */
export const retryDelay = (attempt: number): number =>
  Math.min(RETRY_MIN_MS * 2 ** Math.min(attempt - 1, 10), RETRY_MAX_MS) +
  Math.floor(Math.random() * RETRY_JITTER_MS);

/** A demoted primary, and one that gave its slot away, keep replying; a new connection reaches the right one. */
export const isFromWrongServer = (message: string): boolean => /^(READONLY|MOVED) /.test(message);

/** The options with which the client finds and trusts Redis. The only place that decides about it. */
export function accessOptions(target: RedisTarget): AccessOptions {
  const { url, redisSentinels, redisCluster } = target;
  if (redisSentinels !== undefined && redisCluster !== undefined)
    throw startupError('invalid_configuration', {
      problems: 'SERVICE_REDIS_SENTINELS and SERVICE_REDIS_CLUSTER cannot both be set',
    });
  const tls = tlsOptions(target);
  if (redisSentinels !== undefined) return sentinelOptions(target, redisSentinels, tls);
  if (redisCluster === undefined) return tls === undefined ? {} : { tls };
  requireFirstDatabase(url);
  return {
    ...(tls === undefined ? {} : { tls }),
    Connector: slotConnector({ nodes: redisCluster, key: target.prefix, retryDelay }),
  };
}

/** The prefix of all keys. On a Cluster it has a hash tag: scripts use several keys, and those have to be in one slot. */
export function keyPrefix(prefix: string, { redisCluster }: RedisAccess): string {
  if (redisCluster === undefined || /\{[^}]+\}/.test(prefix)) return prefix;
  return `{${prefix.replace(/:$/, '')}}:`;
}

/** Where Redis is, without the credentials. */
export function describeTarget({
  url,
  redisSentinels,
  redisCluster,
  redisMaster,
}: RedisTarget): string {
  const listed = (addresses: readonly RedisAddress[]): string =>
    addresses.map(({ host, port }) => `${host}:${port}`).join(', ');
  if (redisSentinels !== undefined)
    return `${redisMaster} of the Sentinels ${listed(redisSentinels)}`;
  if (redisCluster !== undefined) return `the Cluster with ${listed(redisCluster)}`;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

function sentinelOptions(
  { redisMaster, redisSentinelUser, redisSentinelPassword }: RedisTarget,
  sentinels: readonly RedisAddress[],
  tls: AccessOptions['tls'],
): AccessOptions {
  return {
    sentinels: [...sentinels],
    name: redisMaster,
    sentinelUsername: redisSentinelUser,
    sentinelPassword: redisSentinelPassword,
    sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
    sentinelRetryStrategy: retryDelay,
    ...(tls === undefined ? {} : { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

/** Undefined without TLS. */
function tlsOptions({ url, redisCaFile }: RedisTarget): AccessOptions['tls'] {
  const { protocol } = new URL(url);
  if (protocol !== 'rediss:') return undefined;
  return redisCaFile === undefined ? {} : { ca: readAuthority(redisCaFile) };
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw startupError(
      'invalid_configuration',
      { problems: `SERVICE_REDIS_CA_FILE cannot be read (${describeError(error)})` },
      error,
    );
  }
}

function requireFirstDatabase(url: string): void {
  if (!/^\/[1-9]/.test(new URL(url).pathname)) return;
  throw startupError('invalid_configuration', {
    problems: 'a Redis Cluster has one database: remove its number from REDIS_URL',
  });
}
