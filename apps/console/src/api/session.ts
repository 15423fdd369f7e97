/** The account that is signed in. */
export interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly is_admin: boolean;
}

/** What the page knows about the session; `unknown` until the cookie was tried. */
export type SessionState =
  | { readonly status: 'unknown' }
  | {
      readonly status: 'signed-out';
      /** Whether a session ended while the page was open, and not by its user. */
      readonly hasEnded: boolean;
    }
  | { readonly status: 'signed-in'; readonly user: SessionUser };

/** What the service returns before a user signs in. */
export interface SessionOptions {
  /** Whether there is no account yet. */
  readonly is_new: boolean;
  readonly registration_open: boolean;
  /** Whether the first account needs the admin token to become the admin. */
  readonly first_admin: 'anyone' | 'token';
  /** The host of the OpenID Connect provider through which people can also sign in. */
  readonly provider: string | null;
}

/** A local account that has the email of a person of the provider. */
interface PendingLink {
  readonly email: string;
  /** The host of the provider. */
  readonly provider: string | null;
}

interface Applicant {
  readonly email: string;
  readonly password: string;
  readonly name?: string;
  readonly adminToken?: string;
}

/** The session of this browser. The access token is only in memory; the refresh token is in a cookie that no script can read. */
export interface Session {
  readonly getState: () => SessionState;
  readonly onChange: (listener: () => void) => () => void;
  /** Continues the session of the cookie, if there is one. */
  restore(): Promise<SessionState>;
  options(): Promise<SessionOptions>;
  signIn(credentials: { readonly email: string; readonly password: string }): Promise<void>;
  register(applicant: Applicant): Promise<void>;
  /** The account that a sign-in through the provider waits to be linked with. */
  pendingLink(): Promise<PendingLink>;
  /** Links it and signs in; the page to go to, which then continues the session of the cookie. */
  linkAccount(password: string): Promise<string>;
  signOut(): Promise<void>;
  /** A valid access token; undefined when no user is signed in. */
  token(): Promise<string | undefined>;
  /** A new access token, where the service refused the old one. */
  renew(): Promise<string | undefined>;
}

interface SignedIn {
  readonly access_token: string;
  readonly expires_in: number;
  readonly user: SessionUser;
}

/** An error that the service responded with over plain HTTP. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSecs: number | undefined;

  constructor(response: Response, error: { message?: string; code?: string } | undefined) {
    super(error?.message ?? `HTTP ${response.status}`);
    this.status = response.status;
    this.code = error?.code;
    this.requestId = response.headers.get('x-request-id') ?? undefined;
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterSecs = Number.isNaN(retryAfter) ? undefined : retryAfter;
  }
}

/** The cookie belongs to another account now, which signed in with another page of this browser. */
class OtherAccountError extends Error {
  override readonly name = 'OtherAccountError';

  constructor() {
    super('another account is signed in in this browser now');
  }
}

/** The other pages of this browser, which share the cookie. */
interface OtherPages {
  /** Lets them know that the user has signed out. */
  readonly announce: () => void;
  readonly onAnnounced: (listener: () => void) => void;
}

const PATH = '/api/session';
const LINK_PATH = '/auth/oidc/link';
const JSON_HEADERS = { 'content-type': 'application/json' };
/** A token is replaced this long before it ends, so that no call is refused in between. */
const EARLY_MS = 30_000;
const SECOND_MS = 1000;

export function createSession(
  fetch_: typeof fetch = fetch,
  now: () => number = () => Date.now(),
  otherPages?: OtherPages,
): Session {
  let state: SessionState = { status: 'unknown' };
  let access: { readonly token: string; readonly endsAt: number } | undefined;
  let renewing: Promise<string | undefined> | undefined;
  const listeners = new Set<() => void>();

  function become(next: SessionState): void {
    state = next;
    for (const listener of listeners) listener();
  }

  function accept({ access_token, expires_in, user }: SignedIn): string {
    access = { token: access_token, endsAt: now() + expires_in * SECOND_MS };
    const isSame = state.status === 'signed-in' && sameUser(state.user, user);
    if (!isSame) become({ status: 'signed-in', user });
    return access_token;
  }

  function leave(hasEnded: boolean): void {
    access = undefined;
    if (state.status !== 'signed-out') become({ status: 'signed-out', hasEnded });
  }

  async function send(path: string, init: RequestInit): Promise<unknown> {
    const response = await fetch_(path, { credentials: 'same-origin', ...init });
    const body: unknown = await response.json().catch(() => undefined);
    if (response.ok) return body;
    throw new HttpError(response, (body as { error?: { message?: string } } | undefined)?.error);
  }

  const post = async (path: string, body: object, headers: object = {}): Promise<SignedIn> =>
    (await send(PATH + path, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...headers },
      body: JSON.stringify(body),
    })) as SignedIn;

  async function refresh(): Promise<string | undefined> {
    try {
      const shown = state.status === 'signed-in' ? state.user.id : undefined;
      const signedIn = await post('/refresh', {});
      const token = accept(signedIn);
      // What the page was about to do was meant for the account that it shows.
      if (shown !== undefined && shown !== signedIn.user.id) throw new OtherAccountError();
      return token;
    } catch (error) {
      // Only the service itself ends a session: one that is not reachable may be again soon.
      if (!(error instanceof HttpError) || error.status !== 401) throw error;
      leave(state.status === 'signed-in');
      return undefined;
    }
  }

  /** One request for all callers that wait. */
  function renew(): Promise<string | undefined> {
    renewing ??= refresh().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  otherPages?.onAnnounced(() => leave(state.status === 'signed-in'));

  return {
    getState: () => state,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async restore() {
      if (state.status === 'unknown') await renew();
      return state;
    },
    options: async () => (await send(PATH, { method: 'GET' })) as SessionOptions,
    async signIn(credentials) {
      accept(await post('', credentials));
    },
    async register({ adminToken, ...applicant }) {
      const headers = adminToken === undefined ? {} : { authorization: `Bearer ${adminToken}` };
      accept(await post('/register', applicant, headers));
    },
    pendingLink: async () => (await send(LINK_PATH, { method: 'GET' })) as PendingLink,
    async linkAccount(password) {
      const linked = await send(LINK_PATH, {
        method: 'POST',
        headers: JSON_HEADERS,
        body: JSON.stringify({ password }),
      });
      return (linked as { readonly return_to: string }).return_to;
    },
    async signOut() {
      await send(PATH, { method: 'DELETE' });
      otherPages?.announce();
      leave(false);
    },
    async token() {
      if (state.status === 'signed-out') return undefined;
      if (access !== undefined && now() < access.endsAt - EARLY_MS) return access.token;
      return renew();
    },
    renew,
  };
}

const sameUser = (one: SessionUser, other: SessionUser): boolean =>
  one.id === other.id &&
  one.email === other.email &&
  one.name === other.name &&
  one.is_admin === other.is_admin;
