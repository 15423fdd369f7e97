import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { KeyGrant } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { ClientIp } from '@model-gateway/http';
import type { Clock } from '@model-gateway/kernel';

/** What a key that exists must fulfil besides: its time, and the address of its client. */
export interface KeyChecks {
  /** The text of a refusal, or undefined. Throws if the address is not allowed. */
  refusalOf(grant: KeyGrant, request: IncomingMessage): string | undefined;
  /** Whether there is one, of either kind. */
  isRefused(grant: KeyGrant, request: IncomingMessage): boolean;
}

interface KeyChecksDependencies {
  readonly clientIp: ClientIp;
  readonly clock: Clock;
}

const EXPIRED_TEXT = 'API key expired';

export function createKeyChecks({ clientIp, clock }: KeyChecksDependencies): KeyChecks {
  /** Compiled once per cached grant. */
  const networks = new WeakMap<KeyGrant, BlockList>();

  function networksOf(grant: KeyGrant): BlockList {
    const known = networks.get(grant);
    if (known !== undefined) return known;
    const list = toBlockList(grant.settings.addresses);
    networks.set(grant, list);
    return list;
  }

  const isExpired = ({ settings: { expiresAt } }: KeyGrant): boolean =>
    expiresAt !== null && clock.now() >= expiresAt.getTime();

  const isElsewhere = (grant: KeyGrant, request: IncomingMessage): boolean =>
    grant.settings.addresses.length > 0 && !contains(networksOf(grant), clientIp(request));

  return {
    isRefused: (grant, request) => isExpired(grant) || isElsewhere(grant, request),
    refusalOf(grant, request) {
      if (isExpired(grant)) return EXPIRED_TEXT;
      if (!isElsewhere(grant, request)) return undefined;
      throw new ServiceError('address_not_allowed', 'this key may not be used from your address');
    },
  };
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
