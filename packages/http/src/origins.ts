import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import { trustOf } from './client-ip.ts';

/** From where web pages may call an app, besides pages that it serves itself. */
export interface OriginRules {
  readonly corsOrigins: readonly string[];
  readonly publicUrl: string | undefined;
  readonly trustProxy: string;
}

/** Whether a request comes from no web page, or from one that may call. */
export type OriginCheck = (request: IncomingMessage) => boolean;

/**
 * Browsers name the origin of the page that makes a request. Without this check any page could use a gateway on the machine of
 * its reader, where no key protects registration. On loopback the `Host` of a request proves nothing: a page can give its own
 * name the address 127.0.0.1.
 */
export function createOriginCheck(host: string, rules: Partial<OriginRules> = {}): OriginCheck {
  const { corsOrigins = [], publicUrl, trustProxy = 'loopback' } = rules;
  const allowed = new Set(corsOrigins);
  if (publicUrl !== undefined) allowed.add(new URL(publicUrl).origin);
  const isTrusted = trustOf(trustProxy);
  const isLocal = isLoopback(host);

  function isOwnOrigin(request: IncomingMessage, origin: URL): boolean {
    if (isLocal) return isLoopback(origin.hostname);
    const forwarded = isTrusted(request.socket.remoteAddress ?? '', 0)
      ? String(request.headers['x-forwarded-host'] ?? '')
          .split(',')[0]
          ?.trim()
      : '';
    const own = `${origin.protocol}//${forwarded === '' ? request.headers.host : forwarded}`;
    return URL.canParse(own) && new URL(own).host === origin.host;
  }

  return (request) => {
    const { origin } = request.headers;
    if (origin === undefined || allowed.has(origin) || allowed.has('*')) return true;
    if (!URL.canParse(origin)) return false;
    const url = new URL(origin);
    return url.origin === origin && isOwnOrigin(request, url);
  };
}

/** Whether a host name or address is that of the machine itself. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIPv4(name) && name.startsWith('127.'))
  );
}
