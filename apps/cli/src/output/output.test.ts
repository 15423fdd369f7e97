import { bytes, duration, limit, moment, usd } from './format.ts';
import { oneLine, printable } from './printable.ts';
import { table } from './table.ts';

test.each([
  [null, '-'],
  [0, '$0.00'],
  [1, '$1.00'],
  [12.345, '$12.345'],
  [0.0123, '$0.0123'],
  [0.00001845, '$0.00001845'],
  [0.00012, '$0.00012'],
])('the cost %p is shown as %s', (cost, text) => {
  expect(usd(cost)).toBe(text);
});

test('limits, times and sizes are shown for people', () => {
  expect(limit(null)).toBe('unlimited');
  expect(limit(1_000)).toBe('1,000');
  expect(duration(85.4)).toBe('85 ms');
  expect(duration(1_234)).toBe('1.23 s');
  expect(moment('2026-11-16T18:30:05.123Z')).toBe('2026-11-16 18:30:05');
  expect(moment(null)).toBe('-');
  expect(bytes(512)).toBe('512 B');
  expect(bytes(3.5 * 1024 ** 3)).toBe('3.5 GiB');
});

test('columns are as wide as their longest value, and numbers are aligned to the right', () => {
  const rows = [
    { name: 'first', tokens: '5' },
    { name: 'größer 👋', tokens: '1,234' },
  ];
  const text = table(rows, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'TOKENS', isNumber: true, value: ({ tokens }) => tokens },
  ]);
  expect(text).toBe('NAME      TOKENS\nfirst          5\ngrößer 👋   1,234');
});

test('text of others cannot control the terminal', () => {
  expect(printable('a\u001b[31mred\u0007\u009b2J\n\tb')).toBe('a[31mred2J\n\tb');
  expect(oneLine('two\n lines\u001b')).toBe('two lines');
});
