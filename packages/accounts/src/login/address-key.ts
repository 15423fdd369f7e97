import { sha256Hex } from '@model-gateway/kernel';

const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * The key under which limits count a client address; it contains no personal data. An IPv6 client has a /64 network of
 * addresses to choose from, so all of them count as one.
 */
export function addressKey(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return sha256Hex(plain.includes(':') ? networkOf(plain) : plain);
}

function networkOf(address: string): string {
  const [withoutZone = ''] = address.split('%');
  const [head = '', tail] = withoutZone.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  // An embedded IPv4 address takes the place of two groups; it is never within the first four.
  const missing = Math.max(0, IPV6_GROUPS - groups.length - last.length);
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...last];
  return all
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
