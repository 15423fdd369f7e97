import { isAscii, ServiceError } from '@model-gateway/contracts';
import { describeError, isError, type Clock } from '@model-gateway/kernel';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockSkew,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
  type ClientAuth,
  type Configuration,
} from 'openid-client';
import { createProviderFetch, ProviderUnavailable } from './provider-fetch.ts';

/** What ties the answer of a provider to the browser that began the sign-in. */
export interface SignInProof {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** What a provider says about a user. */
export type Claims = Readonly<Record<string, unknown>>;

/** An OpenID Connect provider. Rejects with `identity_provider_unavailable` while the provider does not answer. */
export interface OidcClient {
  /** Where the browser signs in. */
  authorizationUrl(request: SignInProof & { readonly redirectUri: string }): Promise<URL>;
  /** The verified claims of the user who came back from the provider. */
  claimsOf(callbackUrl: URL, proof: SignInProof): Promise<Claims>;
  /** Where the browser signs out of the provider; undefined where the provider has no such page. */
  logoutUrl(returnTo: string): Promise<URL | undefined>;
}

interface OidcClientOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  /** Whether the claims are enough, or the user info of the provider is needed as well. */
  readonly isComplete: (claims: Claims) => boolean;
  readonly clock: Clock;
}

const TIMEOUT_SECS = 10;
/** How long a sign-in may begin with what was discovered before; a provider that is down is noticed after that. */
const DISCOVERED_MS_MAX = 60_000;
/** Clocks of two machines may differ by this much. */
const CLOCK_TOLERANCE_SECS = 60;
const SECOND_MS = 1_000;

export function createOidcClient(options: OidcClientOptions): OidcClient {
  const { issuer, clientId, clientSecret, scopes, clock } = options;
  let recent: { readonly config: Promise<Configuration>; readonly at: number } | undefined;

  /** Discovers the provider. The keys of a configuration are fetched when they are first needed, so a new one has the current keys. */
  async function discover(auth: ClientAuth = None()): Promise<Configuration> {
    const metadata = {
      [clockTolerance]: CLOCK_TOLERANCE_SECS,
      [clockSkew]: Math.round((clock.now() - Date.now()) / SECOND_MS),
    };
    const extensions = [enableNonRepudiationChecks];
    // oxlint-disable-next-line typescript/no-deprecated -- it is deprecated to stand out; the log warns about such an issuer.
    if (issuer.startsWith('http:')) extensions.push(allowInsecureRequests);
    return discovery(new URL(issuer), clientId, metadata, auth, {
      execute: extensions,
      timeout: TIMEOUT_SECS,
      [customFetch]: createProviderFetch(),
    }).catch((error: unknown) => {
      throw unavailable(error);
    });
  }

  function discoveredRecently(): Promise<Configuration> {
    if (recent === undefined || clock.now() - recent.at > DISCOVERED_MS_MAX) {
      const entry = { config: discover(), at: clock.now() };
      recent = entry;
      entry.config.catch(() => {
        if (recent === entry) recent = undefined;
      });
    }
    return recent.config;
  }

  /** Exchanges the code; a client that the provider knows by the other form of the secret is refused before the code is used. */
  async function exchange(callbackUrl: URL, checks: Parameters<typeof authorizationCodeGrant>[2]) {
    const forms = clientSecret === undefined ? [None()] : secretForms(clientSecret);
    for (const [index, auth] of forms.entries()) {
      const config = await discover(auth);
      try {
        return { config, tokens: await authorizationCodeGrant(config, callbackUrl, checks) };
      } catch (error) {
        const isLast = index === forms.length - 1;
        if (isLast || !isInvalidClient(error)) throw error;
      }
    }
    throw new Error('there is no way to authenticate the client');
  }

  return {
    async authorizationUrl({ redirectUri, state, nonce, codeVerifier }) {
      return buildAuthorizationUrl(await discoveredRecently(), {
        redirect_uri: redirectUri,
        scope: scopes,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      });
    },
    async claimsOf(callbackUrl, { state, nonce, codeVerifier }) {
      try {
        const { config, tokens } = await exchange(callbackUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        const claims: Claims = { ...tokens.claims() };
        const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
        if (options.isComplete(claims) || !hasUserInfo) return claims;
        const info = await fetchUserInfo(config, tokens.access_token, String(claims['sub']));
        return joinClaims(claims, info);
      } catch (error) {
        throw refusal(error);
      }
    },
    async logoutUrl(returnTo) {
      const config = await discoveredRecently();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      return buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo });
    },
  };
}

/**
 * The signed claims take precedence over the user info. Whether an email address is verified counts only from the answer that
 * contains this address.
 */
function joinClaims(claims: Claims, info: Claims): Claims {
  const [own, other] = [claims['email'], info['email']].map((email) =>
    // Other characters can become ASCII ones in lower case: then it would be another address that was verified.
    typeof email === 'string' && isAscii(email) ? email.toLowerCase() : email,
  );
  const { email_verified: _verified, xms_edov: _edov, ...withoutProof } = info;
  if (own !== undefined && own !== other) return { ...withoutProof, ...claims };
  return { ...info, ...claims };
}

const secretForms = (secret: string): readonly ClientAuth[] => [
  ClientSecretBasic(secret),
  ClientSecretPost(secret),
];

const isInvalidClient = (error: unknown): boolean =>
  error instanceof ResponseBodyError && error.error === 'invalid_client';

function unavailable(error: unknown): ServiceError {
  const message = 'the identity provider does not answer; try again later';
  return new ServiceError('identity_provider_unavailable', message, { cause: error });
}

/** Why a sign-in did not succeed. What the provider wrote about itself is for the log only. */
function refusal(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isUnavailable(error)) return unavailable(error);
  const reason =
    error instanceof AuthorizationResponseError
      ? `the identity provider refused the sign-in (${error.error})`
      : 'the answer of the identity provider could not be verified; start again';
  return new ServiceError('sign_in_refused', reason, { cause: error });
}

function isUnavailable(error: unknown): boolean {
  for (let cause = error; isError(cause); cause = cause.cause) {
    if (cause instanceof ProviderUnavailable || cause.name === 'TimeoutError') return true;
  }
  return false;
}

/** The whole chain of causes, for the log. */
export function describeRefusal(error: unknown): string {
  const parts: string[] = [];
  for (let cause = error; isError(cause); cause = cause.cause) parts.push(describeError(cause));
  return parts.join(': ');
}
