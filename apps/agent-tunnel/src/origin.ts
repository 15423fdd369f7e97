import { isIPv6, type Socket } from 'node:net';

/**
 * Where this process was reached on a connection: in a cluster the address of the very replica, which gateways reach
 * too. A balancer in front is the other end of the connection, not this one.
 */
export function originOf({
  localAddress = '127.0.0.1',
  localPort = 0,
}: Pick<Socket, 'localAddress' | 'localPort'>): string {
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/i, '');
  return `http://${isIPv6(address) ? `[${address}]` : address}:${localPort}`;
}
