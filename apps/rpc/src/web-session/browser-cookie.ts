import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureCheck } from '@model-gateway/http';
import { sha256Hex } from '@model-gateway/kernel';

/** A cookie that scripts cannot read. */
export interface BrowserCookie {
  read(request: IncomingMessage): string | undefined;
  /** Call it before the headers of the response are sent. */
  set(request: IncomingMessage, response: ServerResponse, value: string): void;
  clear(request: IncomingMessage, response: ServerResponse): void;
}

interface BrowserCookieOptions {
  readonly publicUrl: string | undefined;
  readonly trustProxy: string;
  /** Names the installation: browsers do not tell the ports of a machine apart. */
  readonly jwtSecret: string;
  readonly purpose: string;
  /** Only this path and those below it receive the cookie. */
  readonly path: string;
  readonly sameSite: 'Strict' | 'Lax';
  readonly maxAgeSecs: number;
}

const INSTALLATION_CHARS = 8;

export function createBrowserCookie(options: BrowserCookieOptions): BrowserCookie {
  const { purpose, path, sameSite } = options;
  const isSecure = createSecureCheck(options);
  const installation = sha256Hex(`${purpose} cookie ${options.jwtSecret}`);
  const name = `service_${purpose}_${installation.slice(0, INSTALLATION_CHARS)}`;
  const write = (
    request: IncomingMessage,
    response: ServerResponse,
    value: string,
    maxAgeSecs: number,
  ): void => {
    const attributes = `HttpOnly; SameSite=${sameSite}; Path=${path}; Max-Age=${maxAgeSecs}`;
    const secure = isSecure(request) ? '; Secure' : '';
    response.appendHeader('set-cookie', `${name}=${value}; ${attributes}${secure}`);
  };
  return {
    read: ({ headers }) => cookieOf(headers.cookie ?? '', name),
    set: (request, response, value) => write(request, response, value, options.maxAgeSecs),
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
