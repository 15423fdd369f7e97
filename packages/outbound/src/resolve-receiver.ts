import { Resolver, lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** The addresses of a name; empty when it has none. */
export type ResolveName = (name: string) => Promise<readonly Address[]>;

/** Names or addresses that receivers may not have. */
export class RefusedReceiver extends Error {}

interface ResolveDependencies {
  /** Accepts addresses of the own network as well. */
  readonly allowPrivate: boolean;
  readonly resolveName?: ResolveName;
}

const DNS_TIMEOUT_MS = 3_000;
const DNS_TRIES = 2;

/** The addresses that a receiver may be connected at. Rejects when it has none. */
export type ResolveReceiver = (url: URL) => Promise<readonly Address[]>;

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Whether a URL names an address of the own network itself; a name that leads to one is not known here. */
export function isPrivateHost(url: URL): boolean {
  const host = hostOf(url);
  return isIP(host) === 0 ? /^(.+\.)?localhost\.?$/.test(host) : !isPublicAddress(host);
}

export function createResolveReceiver({
  allowPrivate,
  resolveName = allowPrivate ? resolveByHost : createDnsQuery(),
}: ResolveDependencies): ResolveReceiver {
  return async (url) => {
    const name = hostOf(url);
    const family = isIP(name);
    const found = family === 0 ? await resolveName(name) : [{ address: name, family }];
    if (found.length === 0) throw new RefusedReceiver('the host of the URL has no address');
    const allowed = allowPrivate ? found : found.filter(({ address }) => isPublicAddress(address));
    if (allowed.length === 0)
      throw new RefusedReceiver(
        'the URL leads to a private address; set SERVICE_WEBHOOK_ALLOW_PRIVATE=1 to allow that',
      );
    return allowed;
  };
}

/** Also resolves names of the local network. It occupies one of the few threads of the process until it is done. */
async function resolveByHost(name: string): Promise<readonly Address[]> {
  return lookup(name, { all: true }).catch(() => []);
}

/** Public names need no more than DNS, and a name server that does not answer occupies no thread. */
function createDnsQuery(): ResolveName {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (name) => {
    const [ipv4, ipv6] = await Promise.all([
      resolver.resolve4(name).catch((): string[] => []),
      resolver.resolve6(name).catch((): string[] => []),
    ]);
    return [
      ...ipv4.map((address) => ({ address, family: 4 })),
      ...ipv6.map((address) => ({ address, family: 6 })),
    ];
  };
}
