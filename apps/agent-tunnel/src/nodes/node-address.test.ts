import { nodeAddress } from './node-address.ts';

const peer = { address: '10.0.0.7', isForwarded: false };

test.each([
  ['a node that names no host', undefined, [], peer, { host: '10.0.0.7', isCallable: true }],
  ['a host that no admin allowed', '10.0.0.1', [], peer, { host: '10.0.0.7', isCallable: true }],
  ['another host', '10.0.0.1', ['10.0.0.2'], peer, { host: '10.0.0.7', isCallable: true }],
  ['an allowed host', 'gpu-1.LAN', ['gpu-1.lan'], peer, { host: 'gpu-1.LAN', isCallable: true }],
  [
    'an address from a header of a proxy',
    '10.0.0.1',
    [],
    { ...peer, isForwarded: true },
    { host: '10.0.0.7', isCallable: false },
  ],
  [
    'an allowed host behind a proxy',
    'gpu-1.lan',
    ['gpu-1.lan'],
    { ...peer, isForwarded: true },
    { host: 'gpu-1.lan', isCallable: true },
  ],
])('%s', (_what, reported, allowed, from, expected) => {
  expect(nodeAddress(reported, allowed, from)).toEqual(expected);
});
