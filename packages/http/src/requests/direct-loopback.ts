import type { IncomingMessage } from 'node:http';
import { isLoopback } from './origins.ts';

/** Whether the client is on this machine and came through no proxy: limits per address do not apply to it. */
export function isDirectLoopback({ socket, headers }: IncomingMessage): boolean {
  const isProxied = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  return !isProxied && isLoopback((socket.remoteAddress ?? '').replace(/^::ffff:/, ''));
}
