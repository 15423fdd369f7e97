import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { createProviderStore } from './provider-adapter.ts';
import { Provider, type Configuration } from 'oidc-provider';

/** What the provider says about a user. */
export type ProviderUser = Readonly<Record<string, unknown>>;

/** A real OpenID Connect provider on loopback, where the user is signed in without a form. */
export interface TestProvider {
  readonly issuer: string;
  /** The users by their subject. */
  readonly users: Map<string, ProviderUser>;
  /** Who signs in next. */
  subject: string;
  /** Whether the user agrees to sign in. */
  agrees: boolean;
  /** How often a user was asked to sign in. */
  readonly promptCount: number;
  /** Changes the registration of the client. */
  register(client: Readonly<Record<string, unknown>>): void;
  /** The pages at this address may sign in and out. */
  allow(baseUrl: string): void;
  /** From now on ID tokens have the claims of the user, and the user info differs by these; undefined ends that. */
  differ(userInfo: ProviderUser | undefined): void;
  /** Signs with a new key from now on. */
  rotateKeys(): void;
  /** From now on no connection is accepted. */
  stop(): Promise<void>;
  resume(): Promise<void>;
}

export const CLIENT = { id: 'gateway', secret: 'a client secret of the tests' };
/** How many seconds an ID token is valid. */
export const ID_TOKEN_SECS = 30;

export async function startProvider(): Promise<TestProvider> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const server = createServer((request, response) => handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const users = new Map<string, ProviderUser>();
  const redirects: string[] = [];
  const logouts: string[] = [];
  let client: Readonly<Record<string, unknown>> = {};
  const adapter = createProviderStore();
  let key = newKey();
  let userInfo: ProviderUser | undefined;
  let promptCount = 0;

  function serve(): void {
    const registration = {
      redirect_uris: redirects,
      post_logout_redirect_uris: logouts,
      ...client,
    };
    const provider = new Provider(issuer, {
      ...configurationOf(registration, key, (subject, use) => ({
        ...users.get(subject),
        ...(use === 'userinfo' ? userInfo : {}),
      })),
      conformIdTokenClaims: userInfo === undefined,
      adapter,
    });
    const callback = provider.callback();
    handle = (request, response) => {
      if (!(request.url ?? '').startsWith('/interaction/')) void callback(request, response);
      else void answerPrompt(provider, request, response);
    };
  }

  async function answerPrompt(
    provider: Provider,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    promptCount += 1;
    const result = running.agrees
      ? { login: { accountId: running.subject } }
      : { error: 'access_denied', error_description: 'the user said no' };
    await provider.interactionFinished(request, response, result);
  }

  const running: TestProvider = {
    issuer,
    users,
    subject: '',
    agrees: true,
    get promptCount() {
      return promptCount;
    },
    register(changed) {
      client = changed;
      serve();
    },
    allow(baseUrl) {
      redirects.push(`${baseUrl}/auth/oidc/callback`);
      logouts.push(`${baseUrl}/console/`);
      serve();
    },
    differ(changed) {
      userInfo = changed;
      serve();
    },
    rotateKeys() {
      key = newKey();
      serve();
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    async resume() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
  return running;
}

const newKey = (): JsonWebKey =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });

function configurationOf(
  client: Readonly<Record<string, unknown>>,
  key: JsonWebKey,
  claimsOf: (subject: string, use: string) => ProviderUser,
): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        id_token_signed_response_alg: 'ES256',
        ...client,
      },
    ],
    jwks: { keys: [{ ...key, use: 'sig', alg: 'ES256' }] },
    cookies: { keys: ['the cookies of the tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    ttl: { IdToken: ID_TOKEN_SECS, Interaction: 600, Session: 600, Grant: 600, AccessToken: 600 },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: (use) => ({ sub: subject, ...claimsOf(subject, use) }),
    }),
    // The client belongs to the same organization, so no one is asked for consent.
    async loadExistingGrant(context) {
      const { client: asking, account, provider } = context.oidc;
      const grant = new provider.Grant({
        clientId: asking?.clientId ?? '',
        accountId: account?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  };
}
