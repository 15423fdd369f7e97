import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Networks of IPv4 that are not on the public internet: private, link-local with metadata services, shared, reserved. */
const IPV4_RESERVED = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;
/** Everything else in IPv6 is local, reserved, or contains an IPv4 address. */
const IPV6_GLOBAL = [['2000::', 3]] as const;
/** Of these: protocol assignments with Teredo, documentation, 6to4. */
const IPV6_RESERVED = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const reservedIpv4 = networks(IPV4_RESERVED, 'ipv4');
const globalIpv6 = networks(IPV6_GLOBAL, 'ipv6');
const reservedIpv6 = networks(IPV6_RESERVED, 'ipv6');

/** Whether an address is on the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !reservedIpv4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  return globalIpv6.check(address, 'ipv6') && !reservedIpv6.check(address, 'ipv6');
}

function networks(
  ranges: readonly (readonly [string, number])[],
  family: 'ipv4' | 'ipv6',
): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
}
