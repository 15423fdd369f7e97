import type { IncomingMessage, ServerResponse } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import {
  isKeyForm,
  type KeyCache,
  type KeyGrant,
  type KnownGrant,
  type ModelPolicy,
} from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import { apiKeyOf, type ClientIp } from '@model-gateway/http';
import { rightsOfKey, type Caller, type Grant, type Identity } from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import type { SignIns } from '@model-gateway/service';
import { requestHeaders, type LimitHeaders } from './limit-headers.ts';
import { refusedByLimit, refusedCredential } from './refusals.ts';
import type { RequestLimiter } from './request-limiter.ts';

/** Who sends requests: holders of API keys, and for reads also users with an access token. */
export interface Identities {
  /** The holder of the key of a request, whose first grant counts in the limit of this process. */
  keyOf(
    request: IncomingMessage,
    response: ServerResponse,
    onKnown: (caller: Caller) => void,
  ): Identity;
  /** Who reads what is not of a user. */
  readerOf(request: IncomingMessage, response: ServerResponse): Promise<Reader>;
}

/** Who reads. */
interface Reader {
  readonly modelPolicy: ModelPolicy | null;
  readonly limitHeaders: LimitHeaders;
}

interface IdentitiesDependencies {
  readonly keys: Pick<KeyCache, 'find' | 'recall'>;
  readonly limiter: RequestLimiter;
  readonly signIns: Pick<SignIns, 'userOf'>;
  readonly clientIp: ClientIp;
  readonly clock: Clock;
}

const MISSING_TEXT = 'Missing Authorization header. Use: Bearer <api_key>';
const MISSING_READER_TEXT = 'Missing Authorization header. Use: Bearer <api_key_or_jwt>';
const INVALID_TEXT = 'Invalid API key';
const INVALID_READER_TEXT = 'Invalid API key or JWT';
const EXPIRED_TEXT = 'API key expired';

export function createIdentities(dependencies: IdentitiesDependencies): Identities {
  const { keys, limiter, signIns, clientIp, clock } = dependencies;
  /** Derived once per cached grant, because every call needs them. */
  const rights = new WeakMap<KeyGrant, Omit<Grant, 'epoch'>>();
  /** Compiled once per cached grant. */
  const networks = new WeakMap<KeyGrant, BlockList>();

  function networksOf(grant: KeyGrant): BlockList {
    const known = networks.get(grant);
    if (known !== undefined) return known;
    const list = toBlockList(grant.settings.addresses);
    networks.set(grant, list);
    return list;
  }

  /** Why a key that exists may not be used now, or for this request. */
  function refusalOf(grant: KeyGrant, request: IncomingMessage): ServiceError | undefined {
    const { expiresAt, addresses } = grant.settings;
    if (expiresAt !== null && clock.now() >= expiresAt.getTime())
      return refusedCredential(EXPIRED_TEXT);
    return addresses.length > 0 && !contains(networksOf(grant), clientIp(request))
      ? new ServiceError('address_not_allowed', 'this key may not be used from your address')
      : undefined;
  }

  function grantOf({ grant, epoch }: KnownGrant): Grant {
    const known = rights.get(grant) ?? rightsOfKey(grant);
    rights.set(grant, known);
    return { ...known, epoch };
  }

  async function find(secret: string): Promise<KnownGrant> {
    const found = await keys.find(secret);
    if (found === undefined) throw refusedCredential(INVALID_TEXT);
    return found;
  }

  return {
    keyOf(request, response, onKnown) {
      let isCounted = false;
      return {
        async grant(newerThan) {
          const secret = apiKeyOf(request);
          if (secret === undefined) throw refusedCredential(MISSING_TEXT);
          const cached = newerThan === undefined ? keys.recall(secret) : undefined;
          // A change may have lifted the refusal of a cached key.
          const isUsable = cached !== undefined && refusalOf(cached.grant, request) === undefined;
          const known = isUsable ? cached : await find(secret);
          const granted = grantOf(known);
          onKnown(granted.caller);
          const refusal = isUsable ? undefined : refusalOf(known.grant, request);
          if (refusal !== undefined) throw refusal;
          if (isCounted) return granted;
          isCounted = true;
          const { keyId } = known.grant.holder;
          if (await limiter.admits(keyId)) return granted;
          // A cached key may have been revoked: then the response is 401, not 429.
          if (isUsable) await find(secret);
          throw refusedByLimit(response, limiter, keyId);
        },
      };
    },

    async readerOf(request, response) {
      const bearer = apiKeyOf(request);
      if (bearer === undefined) throw refusedCredential(MISSING_READER_TEXT);
      const reader = isKeyForm(bearer)
        ? await readerWithKey(bearer, request)
        : await readerSignedIn(bearer);
      if (reader === undefined) throw refusedCredential(INVALID_READER_TEXT);
      const { limitedAs, modelPolicy } = reader;
      if (!(await limiter.admits(limitedAs))) throw refusedByLimit(response, limiter, limitedAs);
      return { modelPolicy, limitHeaders: requestHeaders(limiter, limitedAs) };
    },
  };

  async function readerWithKey(secret: string, request: IncomingMessage) {
    const grant = (await keys.find(secret))?.grant;
    if (grant === undefined) return undefined;
    const refusal = refusalOf(grant, request);
    if (refusal !== undefined) throw refusal;
    return { limitedAs: grant.holder.keyId, modelPolicy: grant.modelPolicy };
  }

  async function readerSignedIn(accessToken: string) {
    const userId = await signIns.userOf(accessToken);
    return userId === undefined ? undefined : { limitedAs: `user:${userId}`, modelPolicy: null };
  }
}

function toBlockList(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of addresses) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** An IPv4 client of a listener for both families has an IPv6 address that contains the other. */
function contains(list: BlockList, client: string): boolean {
  const address = client.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (isIPv4(address)) return list.check(address, 'ipv4');
  return isIPv6(address) && list.check(address, 'ipv6');
}
