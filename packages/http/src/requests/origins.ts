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
  const namesOrigin = createHostCheck(trustProxy);
  const isLocal = isLoopback(host);

  return (request) => {
    const { origin } = request.headers;
    if (origin === undefined || allowed.has(origin) || allowed.has('*')) return true;
    if (!URL.canParse(origin)) return false;
    const url = new URL(origin);
    if (url.origin !== origin) return false;
    return isLocal ? isLoopback(url.hostname) : namesOrigin(request, url);
  };
}

/**
 * Whether a request comes from no web page, or from a page of this service. A cookie needs the stricter check: browsers send
 * it with requests of every page of the same site, such as one on another port of the same machine.
 */
export function createSameOriginCheck({
  publicUrl,
  trustProxy,
}: Pick<OriginRules, 'publicUrl' | 'trustProxy'>): OriginCheck {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const namesOrigin = createHostCheck(trustProxy);
  return (request) => {
    const { origin } = request.headers;
    if (origin === undefined || origin === own) return true;
    return URL.canParse(origin) && namesOrigin(request, new URL(origin));
  };
}

/** Whether the host that a request was sent to is that of the origin. */
function createHostCheck(trustProxy: string): (request: IncomingMessage, origin: URL) => boolean {
  const isTrusted = trustOf(trustProxy);
  return (request, origin) => {
    const forwarded = isTrusted(request.socket.remoteAddress ?? '', 0)
      ? String(request.headers['x-forwarded-host'] ?? '')
          .split(',')[0]
          ?.trim()
      : '';
    const own = `${origin.protocol}//${forwarded === '' ? request.headers.host : forwarded}`;
    return URL.canParse(own) && new URL(own).host === origin.host;
  };
}

/** Whether a host name or address is that of the machine itself. */
export function isLoopback(host: string): boolean {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/^::ffff:/, '');
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIPv4(name) && name.startsWith('127.'))
  );
}
