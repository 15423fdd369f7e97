import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { createClientIp } from './client-ip.ts';

/** The address that is read from a request of a proxy at 127.0.0.1. */
function clientOf(forwarded: string, trustProxy = 'loopback'): string {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: '127.0.0.1' });
  const request = new IncomingMessage(socket);
  request.headers['x-forwarded-for'] = forwarded;
  return createClientIp(trustProxy)(request);
}

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:51234', '203.0.113.7'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['2001:db8::1:443', '2001:db8::1:443'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
])('%s is the client %s', (forwarded, client) => {
  expect(clientOf(forwarded)).toBe(client);
});

test('a client behind several proxies that add ports is found, and cannot name another address', () => {
  const forwarded = '198.51.100.9:1, 203.0.113.7:51234, 10.0.0.2:443';
  expect(clientOf(forwarded, 'loopback, uniquelocal')).toBe('203.0.113.7');
  expect(clientOf(forwarded)).toBe('10.0.0.2');
});
