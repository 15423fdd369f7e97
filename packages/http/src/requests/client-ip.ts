import type { IncomingMessage } from 'node:http';
import proxyAddress from 'proxy-addr';

/** The address of the client of a request, behind the proxies that are trusted. */
export type ClientIp = (request: IncomingMessage) => string;

/** Reads the setting as Express does: a number of hops, true or false, or addresses and names of networks. */
export function createClientIp(trustProxy: string): ClientIp {
  const trust = trustOf(trustProxy);
  return (request) => proxyAddress(request, trust);
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
