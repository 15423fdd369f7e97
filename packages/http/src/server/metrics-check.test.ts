import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { createMetricsCheck } from './metrics-check.ts';

const mayRead = createMetricsCheck(['the admin token', 'the metrics token', undefined]);

function requestFrom(address: string, headers: Readonly<Record<string, string>> = {}) {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: address });
  return Object.assign(new IncomingMessage(socket), { headers });
}

test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('%s may read without a token', (address) => {
  expect(mayRead(requestFrom(address))).toBe(true);
});

test.each(['the admin token', 'the metrics token'])('%s may read from anywhere', (token) => {
  expect(mayRead(requestFrom('192.0.2.1', { authorization: `Bearer ${token}` }))).toBe(true);
});

test.each([
  { why: 'another machine', address: '192.0.2.1', headers: {} },
  { why: 'another token', address: '192.0.2.1', headers: { authorization: 'Bearer undefined' } },
  {
    why: 'another machine behind a proxy here',
    address: '127.0.0.1',
    headers: { 'x-forwarded-for': '192.0.2.1' },
  },
  {
    why: 'another machine that says it is this one',
    address: '127.0.0.1',
    headers: { 'x-forwarded-for': '127.0.0.1' },
  },
  ...['forwarded', 'via', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'].map((name) => ({
    why: `a client behind a proxy that sets ${name}`,
    address: '127.0.0.1',
    headers: { [name]: 'example.com' },
  })),
])('$why may not', ({ address, headers }) => {
  expect(mayRead(requestFrom(address, headers))).toBe(false);
});
