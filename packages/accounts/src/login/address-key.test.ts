import { addressKey } from './address-key.ts';

test.each([
  ['192.0.2.1', '::ffff:192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0:ffff::2'],
  ['2001:0DB8:1:2::1', '2001:db8:1:2:3:4:5:6'],
  ['::1', '0:0:0:0:0:0:0:2'],
  ['fe80::1%eth0', 'fe80::2'],
])('%s and %s count as one address', (one, other) => {
  expect(addressKey(one)).toBe(addressKey(other));
});

test.each([
  ['192.0.2.1', '192.0.2.2'],
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['::1', '1::'],
  ['not an address', 'another'],
])('%s and %s are two addresses', (one, other) => {
  expect(addressKey(one)).not.toBe(addressKey(other));
});
