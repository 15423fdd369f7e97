import { RpcCallError } from '@model-gateway/client';
import type { RpcResult } from '@model-gateway/contracts';
import { CliError } from '../cli-error.ts';
import type { CredentialFile, StoredSignIn } from './credential-file.ts';

/** Tokens that end sooner are renewed first, so that none ends on its way. */
const RENEW_BEFORE_MS = 30_000;
const AUTH_REFUSED = -32_005;

/** The sign-in of the user at one service. */
export interface Session {
  /** The sign-in as stored, without a check. */
  stored(): Promise<StoredSignIn | undefined>;
  /** A valid access token; renews an expired one. */
  accessToken(): Promise<string>;
  /** Renews the token that the service refused, unless another process has done so. */
  renew(refused: string): Promise<string>;
}

interface SessionOptions {
  readonly file: CredentialFile;
  readonly url: string;
  readonly refresh: (refreshToken: string) => Promise<RpcResult<'auth.refresh'>>;
}

export function createSession({ file, url, refresh }: SessionOptions): Session {
  const storedIn = async (): Promise<StoredSignIn | undefined> =>
    (await file.read()).services[url]?.sign_in;

  /** Where else there is a sign-in: the address may be the mistake. */
  const otherUrls = async (): Promise<readonly string[]> =>
    Object.entries((await file.read()).services)
      .filter(([, { sign_in }]) => sign_in !== undefined)
      .map(([other]) => other);

  /** A refresh token works once, and using it twice ends the sign-in: one process at a time renews. */
  async function renewed(isUsable: (signIn: StoredSignIn) => boolean): Promise<string> {
    const credentials = await file.update(async (current) => {
      const signIn = current.services[url]?.sign_in;
      if (signIn === undefined) throw notSignedIn(url);
      if (isUsable(signIn)) return current;
      const fresh = toStored(await refreshed(signIn.refresh_token), Date.now());
      const services = { ...current.services };
      services[url] = { ...services[url], sign_in: fresh };
      return { ...current, services };
    });
    const signIn = credentials.services[url]?.sign_in;
    if (signIn === undefined) throw notSignedIn(url);
    return signIn.access_token;
  }

  async function refreshed(refreshToken: string): Promise<RpcResult<'auth.refresh'>> {
    try {
      return await refresh(refreshToken);
    } catch (error) {
      if (!(error instanceof RpcCallError) || error.code !== AUTH_REFUSED) throw error;
      throw new CliError(
        'not_signed_in',
        `your sign-in at ${url} has ended`,
        `Sign in again: gateway login --url ${url}`,
        error,
      );
    }
  }

  return {
    stored: storedIn,
    async accessToken() {
      const signIn = await storedIn();
      if (signIn === undefined) throw notSignedIn(url, await otherUrls());
      return isFresh(signIn) ? signIn.access_token : renewed(isFresh);
    },
    renew: (refused) => renewed((signIn) => signIn.access_token !== refused && isFresh(signIn)),
  };
}

/** The sign-in of a response, with its end by the clock of this machine. */
export function toStored(signedIn: RpcResult<'auth.login'>, now: number): StoredSignIn {
  return {
    email: signedIn.user.email,
    access_token: signedIn.access_token,
    expires_at: now + signedIn.expires_in * 1000,
    refresh_token: signedIn.refresh_token,
  };
}

const isFresh = ({ expires_at }: StoredSignIn): boolean =>
  expires_at - Date.now() > RENEW_BEFORE_MS;

const notSignedIn = (url: string, others: readonly string[] = []): CliError =>
  new CliError(
    'not_signed_in',
    `you are not signed in at ${url}`,
    `Run: gateway login --url ${url}${others.length === 0 ? '' : `, or use the address where you are signed in: --url ${others.join(' or ')}`}`,
  );
