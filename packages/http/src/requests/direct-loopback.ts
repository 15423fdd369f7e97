import type { IncomingMessage } from 'node:http';
import { isLoopback } from './origins.ts';

/** What proxies add; which of them depends on the proxy and its configuration. */
const PROXY_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** Whether the client is on this machine and came through no proxy: limits per address do not apply to it. */
export function isDirectLoopback({ socket, headers }: IncomingMessage): boolean {
  const isProxied = PROXY_HEADERS.some((name) => headers[name] !== undefined);
  return !isProxied && isLoopback(socket.remoteAddress ?? '');
}
