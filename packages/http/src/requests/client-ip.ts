import type { IncomingMessage } from 'node:http';
import proxyAddress from 'proxy-addr';

/** 192.0.2.1:443 or [2001:db8::1]:443, the second also without its port. */
const WITH_PORT = /^(?:([\d.]+):\d+|\[([^\]]+)\](?::\d+)?)$/;

/** The address of the client of a request, behind the proxies that are trusted. */
export type ClientIp = (request: IncomingMessage) => string;

/** Reads the setting as Express does: a number of hops, true or false, or addresses and names of networks. */
export function createClientIp(trustProxy: string): ClientIp {
  const trust = trustOf(trustProxy);
  const isTrusted = (address: string, hop: number): boolean => trust(withoutPort(address), hop);
  return (request) => withoutPort(proxyAddress(request, isTrusted));
}

/** Some proxies add the port of the client, with which every connection would be another client. */
function withoutPort(address: string): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(address) ?? [];
  return ipv4 ?? ipv6 ?? address;
}

/** Whether the setting is valid. */
export function isTrustProxy(text: string): boolean {
  try {
    trustOf(text);
    return true;
  } catch {
    return false;
  }
}

/** Which addresses, at which distance, are trusted as proxies. */
export function trustOf(text: string): (address: string, hop: number) => boolean {
  if (text === 'true') return () => true;
  if (text === 'false') return () => false;
  if (/^\d+$/.test(text)) return (_address, hop) => hop < Number(text);
  return proxyAddress.compile(text.split(',').map((entry) => entry.trim()));
}
