import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureCheck } from '@model-gateway/http';
import { sha256Hex } from '@model-gateway/kernel';

/** The cookie with the refresh token of a browser. Scripts cannot read it, and only the paths of the session receive it. */
export interface SessionCookie {
  /** The refresh token of a request. */
  read(request: IncomingMessage): string | undefined;
  /** Call it before the headers of the response are sent. */
  set(request: IncomingMessage, response: ServerResponse, refreshToken: string): void;
  clear(request: IncomingMessage, response: ServerResponse): void;
}

interface SessionCookieOptions {
  readonly publicUrl: string | undefined;
  readonly trustProxy: string;
  /** Names the installation: browsers do not tell the ports of a machine apart. */
  readonly jwtSecret: string;
  readonly refreshTokenTtlSecs: number;
}

/** Also matches the paths below it. */
export const SESSION_PATH = '/api/session';

const INSTALLATION_CHARS = 8;

export function createSessionCookie(options: SessionCookieOptions): SessionCookie {
  const isSecure = createSecureCheck(options);
  const installation = sha256Hex(`session cookie ${options.jwtSecret}`);
  const name = `service_session_${installation.slice(0, INSTALLATION_CHARS)}`;
  const write = (
    request: IncomingMessage,
    response: ServerResponse,
    value: string,
    maxAgeSecs: number,
  ): void => {
    const attributes = `HttpOnly; SameSite=Strict; Path=${SESSION_PATH}; Max-Age=${maxAgeSecs}`;
    const secure = isSecure(request) ? '; Secure' : '';
    response.appendHeader('set-cookie', `${name}=${value}; ${attributes}${secure}`);
  };
  return {
    read: ({ headers }) => cookieOf(headers.cookie ?? '', name),
    set: (request, response, refreshToken) =>
      write(request, response, refreshToken, options.refreshTokenTtlSecs),
    clear: (request, response) => write(request, response, '', 0),
  };
}

function cookieOf(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const [key, value] = pair.split('=', 2);
    if (key?.trim() === name && value !== undefined && value !== '') return value.trim();
  }
  return undefined;
}
