import { safeAddress } from './safe-address.ts';

test.each([
  { address: 'https://example.com/a?b=c', safe: 'https://example.com/a?b=c' },
  { address: 'http://127.0.0.1:8080/', safe: 'http://127.0.0.1:8080/' },
  { address: 'mailto:ada@example.com', safe: 'mailto:ada@example.com' },
  { address: 'javascript:alert(1)', safe: undefined },
  { address: ' JavaScript:alert(1)', safe: undefined },
  { address: 'data:text/html,hi', safe: undefined },
  { address: '/console/keys', safe: undefined },
  { address: '//example.com', safe: undefined },
])('the link $address leads to $safe', ({ address, safe }) => {
  expect(safeAddress(address)).toBe(safe);
});
