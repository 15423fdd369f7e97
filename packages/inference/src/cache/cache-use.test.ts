import { cacheUse } from './cache-use.ts';

const HOUR = 3_600;

test.each([
  // Neither the key nor the route has it: no header turns it on.
  { keySecs: null, routeSecs: undefined, header: 'ttl=60', use: undefined },
  { keySecs: 60, routeSecs: undefined, header: undefined, use: { ttlMs: 60_000, reads: true } },
  { keySecs: null, routeSecs: 60, header: undefined, use: { ttlMs: 60_000, reads: true } },
  { keySecs: HOUR, routeSecs: 60, header: undefined, use: { ttlMs: 60_000, reads: true } },
  { keySecs: HOUR, routeSecs: undefined, header: 'ttl=5', use: { ttlMs: 5_000, reads: true } },
  { keySecs: 60, routeSecs: undefined, header: 'TTL=99999', use: { ttlMs: 60_000, reads: true } },
  { keySecs: 60, routeSecs: undefined, header: 'no-cache', use: { ttlMs: 60_000, reads: false } },
  {
    keySecs: HOUR,
    routeSecs: undefined,
    header: 'no-cache, ttl=7',
    use: { ttlMs: 7_000, reads: false },
  },
  { keySecs: 60, routeSecs: undefined, header: 'no-store', use: 'bypass' },
  { keySecs: 60, routeSecs: undefined, header: 'ttl=0', use: 'bypass' },
  // A key of an earlier version may have more than a day.
  {
    keySecs: 10 ** 6,
    routeSecs: undefined,
    header: undefined,
    use: { ttlMs: 86_400_000, reads: true },
  },
])('key $keySecs, route $routeSecs, header $header: $use', ({ header, use, ...ttls }) => {
  expect(cacheUse(ttls, header)).toEqual(use);
});

test.each(['ttl=-1', 'ttl=', 'on', 'ttl=1.5', ''])('the header %j is refused', (header) => {
  const off = { keySecs: null, routeSecs: undefined };
  expect(() => cacheUse(off, header)).toThrow("takes 'ttl=<seconds>'");
});
