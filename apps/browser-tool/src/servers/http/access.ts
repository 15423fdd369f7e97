import type { IncomingHttpHeaders } from 'node:http';
import { constantTimeEqual, StartupError } from '@model-gateway/kernel';
import { ToolError } from '../../errors.ts';

/** Which requests a server accepts. */
export interface AccessRules {
  /** The port that the server listens on. */
  readonly port: () => number;
  /** Host names besides loopback. */
  readonly allowedHosts: readonly string[];
  readonly token: string | undefined;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const LOOPBACK_LISTENED = ['127.0.0.1', 'localhost', '::1'];
/** Requests of the server's own pages, and addresses that a user typed. */
const OWN_SITES = ['same-origin', 'none'];
const HTTP_PORT = 80;

/**
 * Rejects requests that a web page could have sent: by their Host, against DNS names that an attacker points to loopback, by their
 * Origin, and where they have none, as those of frames and images, by what browsers say of their site. Checks the bearer token if
 * one is set.
 */
export function checkAccess(
  headers: IncomingHttpHeaders,
  { port, allowedHosts, token }: AccessRules,
): void {
  const hosts = [
    ...LOOPBACK.map((name) => `${name}:${port()}`),
    // Clients omit the default port.
    ...(port() === HTTP_PORT ? LOOPBACK : []),
    ...allowedHosts.map((name) => name.toLowerCase()),
    ...allowedHosts.map((name) => `${name.toLowerCase()}:${port()}`),
  ];
  const host = (headers.host ?? '').toLowerCase();
  if (!hosts.includes(host)) {
    throw new ToolError(
      'FORBIDDEN_HOST',
      `The Host header ${JSON.stringify(host)} is not allowed.`,
      {
        hint: `Use http://127.0.0.1:${port()}.`,
        details: { host, allowed: hosts },
      },
    );
  }
  const { origin } = headers;
  const origins = hosts.flatMap((name) => [`http://${name}`, `https://${name}`]);
  if (origin !== undefined && !origins.includes(origin.toLowerCase())) {
    throw new ToolError(
      'FORBIDDEN_ORIGIN',
      `Requests with the Origin ${JSON.stringify(origin)} are not allowed.`,
      {
        hint: 'Call from a program, without an Origin header.',
        details: { origin },
      },
    );
  }
  const site = headers['sec-fetch-site'];
  if (origin === undefined && typeof site === 'string' && !OWN_SITES.includes(site)) {
    throw new ToolError('FORBIDDEN_ORIGIN', 'Requests of web pages are not allowed.', {
      hint: 'Call from a program, or open the address directly.',
      details: { sec_fetch_site: site },
    });
  }
  if (token !== undefined && !hasToken(headers.authorization, token)) {
    throw new ToolError('UNAUTHORIZED', 'The bearer token is missing or wrong.', {
      hint: 'Send Authorization: Bearer with the value of BROWSER_TOKEN.',
    });
  }
}

function hasToken(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? '')?.[1];
  return given !== undefined && constantTimeEqual(given, token);
}

/** Off loopback anyone could control the browser, so a token and the server's host names are required. */
export function checkListenHost(
  host: string,
  { token, allowedHosts }: Pick<AccessRules, 'token' | 'allowedHosts'>,
): void {
  if (LOOPBACK_LISTENED.includes(host)) return;
  if (token !== undefined && allowedHosts.length > 0) return;
  throw new StartupError(
    `--host ${host} is not loopback: set BROWSER_TOKEN and BROWSER_ALLOWED_HOSTS`,
  );
}
