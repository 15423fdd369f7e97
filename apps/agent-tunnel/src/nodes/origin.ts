import { isIPv6, type Socket } from 'node:net';

/**
 * The local address of a connection: in a cluster the address of this replica, which gateways can reach too. A load
 * balancer is the remote end of the connection, not the local one.
 */
export function originOf({
  localAddress = '127.0.0.1',
  localPort = 0,
}: Pick<Socket, 'localAddress' | 'localPort'>): string {
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/i, '');
  return `http://${isIPv6(address) ? `[${address}]` : address}:${localPort}`;
}
