import { isPublicAddress } from './public-address.ts';

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001::8',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  { why: 'this host', address: '0.0.0.0' },
  { why: 'loopback', address: '127.8.9.1' },
  { why: 'private', address: '10.1.2.3' },
  { why: 'private', address: '172.31.255.255' },
  { why: 'private', address: '192.168.1.1' },
  { why: 'shared', address: '100.64.0.1' },
  { why: 'link-local, where clouds serve metadata', address: '169.254.169.254' },
  { why: 'multicast', address: '224.0.0.1' },
  { why: 'broadcast', address: '255.255.255.255' },
  { why: 'IPv6 loopback', address: '::1' },
  { why: 'IPv6 unspecified', address: '::' },
  { why: 'IPv6 link-local', address: 'fe80::1' },
  { why: 'IPv6 link-local with a zone', address: 'fe80::1%eth0' },
  { why: 'IPv6 unique local', address: 'fd00:ec2::254' },
  { why: 'IPv4 in IPv6', address: '::ffff:127.0.0.1' },
  { why: 'IPv4 in IPv6, in hex', address: '::ffff:a9fe:a9fe' },
  { why: 'IPv4-compatible', address: '::127.0.0.1' },
  { why: 'NAT64', address: '64:ff9b::7f00:1' },
  { why: '6to4 of a private address', address: '2002:7f00:1::' },
  { why: 'Teredo', address: '2001:0:7f00:1::' },
  { why: 'IPv6 multicast', address: 'ff02::1' },
  { why: 'no address', address: 'localhost' },
])('$address is not public: $why', ({ address }) => {
  expect(isPublicAddress(address)).toBe(false);
});
