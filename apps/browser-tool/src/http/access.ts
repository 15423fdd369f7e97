import type { IncomingHttpHeaders } from 'node:http';
import { constantTimeEqual, StartupError } from '@model-gateway/kernel';
import { ToolError } from '../tool-error.ts';

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
const HTTP_PORT = 80;

/**
 * Rejects requests that a web page could have sent: by their Host, against DNS names that an attacker points to loopback, and by
 * their Origin. Checks the bearer token if one is set.
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
