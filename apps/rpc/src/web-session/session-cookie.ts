import { createBrowserCookie, type BrowserCookie } from './browser-cookie.ts';

interface SessionCookieOptions {
  readonly publicUrl: string | undefined;
  readonly trustProxy: string;
  readonly jwtSecret: string;
  readonly refreshTokenTtlSecs: number;
}

/** Also matches the paths below it. */
export const SESSION_PATH = '/api/session';

/** The cookie with the refresh token of a browser. Only the paths of the session receive it. */
export const createSessionCookie = (options: SessionCookieOptions): BrowserCookie =>
  createBrowserCookie({
    ...options,
    purpose: 'session',
    path: SESSION_PATH,
    sameSite: 'Strict',
    maxAgeSecs: options.refreshTokenTtlSecs,
  });
