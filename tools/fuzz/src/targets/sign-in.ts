import * as fc from 'fast-check';
import { hostileValue, mutated, textOf } from '../grammar/hostile.ts';
import { treeOf } from '../grammar/json-tree.ts';
import { bytesOf, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { send, type Answer } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';

interface SignInRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: WireText | null;
  /** The answer of the provider to the code of a sign-in. */
  readonly tokens: WireText;
}

const START = '/auth/oidc/start';
const SESSION_PATHS = ['/api/session', '/api/session/register', '/api/session/refresh'];
const OIDC_PATHS = [START, '/auth/oidc/callback', '/auth/oidc/logout'];
/** Origins of pages that may not call. */
const FOREIGN_ORIGINS = [
  'https://evil.example',
  'null',
  '',
  'file://',
  'http://127.0.0.1.evil.example',
  'http://localhost@evil.example',
  'http://localhost.evil.example:80',
  'http://0.0.0.0:8080',
  'http://10.0.0.1',
  'http://127.0.0.1:1, https://evil.example',
  '*',
];
const LOCAL_ORIGINS = ['http://localhost:1', 'http://127.0.0.1:3000', 'https://[::1]:9'];
const HOSTS = ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'a@b', '[::1', ''];

const headers = fc.record(
  {
    origin: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...LOCAL_ORIGINS) },
      { weight: 1, arbitrary: fc.constantFrom(...FOREIGN_ORIGINS) },
    ),
    host: fc.constantFrom(...HOSTS),
    'x-forwarded-host': fc.constantFrom(...HOSTS, 'localhost, evil.example'),
    'x-forwarded-proto': fc.constantFrom('https', 'javascript', ''),
    'x-forwarded-for': fc.constantFrom('1.2.3.4', '::1', 'x', '1.2.3.4, 127.0.0.1'),
    cookie: fc.oneof(
      fc.constantFrom('{{oidc_cookie}}', '{{oidc_cookie}}x', 'a=b', ';;=;', '__proto__=1'),
      fc.integer({ min: 1, max: 8000 }).map((count) => 'a'.repeat(count)),
    ),
    accept: fc.constantFrom('application/json', 'text/html', '*/*', ''),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const queryValue = fc.oneof(
  fc.constantFrom(
    '{{state}}',
    '{{state}}',
    'code',
    '//evil.example',
    '/%5cevil.example',
    '/console/',
    'https%3A%2F%2Fevil.example',
    '%00',
    '%E0',
    '%0d%0aset-cookie:a=b',
    '',
  ),
  fc.string().map((text) => encodeURIComponent(text)),
);
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom('state', 'code', 'return_to', 'error', 'iss', 'id_token', '__proto__'),
      queryValue,
    ),
    { maxLength: 4 },
  )
  .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`);
/** What a provider sends back with a browser that it has signed in. */
const usualQuery = fc.constantFrom(
  '?code=c&state={{state}}',
  '?error=access_denied&state={{state}}',
);
const credentials = fc
  .record({
    email: fc.constantFrom('user@example.com', 'nobody@example.com', 'A@B.C', 'a'.repeat(300)),
    password: fc.constantFrom('wrong password', 'short', 'p'.repeat(200)),
  })
  .map(treeOf);
const ID_TOKENS = [
  'a.b.c',
  'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.',
  'eyJhbGciOiJIUzI1NiJ9.e30.x',
  '',
];
const tokenAnswer = fc
  .record({
    access_token: fc.constant('a'),
    token_type: fc.constantFrom('Bearer', 'x'),
    id_token: fc.constantFrom(...ID_TOKENS),
    expires_in: fc.nat(),
  })
  .map(treeOf);

/** Signing in and out with a browser, by a password or a provider, from pages of any origin. */
export const signIn: Target<SignInRequest, ServiceScene> = {
  name: 'sign-in',
  about: 'sessions of browsers, sign-in through OIDC, cookies and origins',
  scene: 'service',
  shortCases: 90,
  cases: () => {
    const shared = {
      headers,
      tokens: onTheWire(fc.oneof(textOf(mutated(tokenAnswer)), hostileValue)),
    };
    return Promise.resolve(
      fc.oneof(
        fc.record({
          method: fc.constantFrom('POST', 'POST', 'GET', 'DELETE', 'PUT', 'OPTIONS'),
          path: fc.constantFrom(...SESSION_PATHS),
          body: onTheWire(textOf(mutated(credentials))),
          ...shared,
        }),
        fc.record({
          method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'OPTIONS'),
          path: fc
            .tuple(fc.constantFrom(...OIDC_PATHS), fc.oneof(query, usualQuery))
            .map(([path, search]) => `${path}${search}`),
          body: fc.constant(null),
          ...shared,
        }),
      ),
    );
  },
  async run({ method, path, headers: named, body, tokens }, scene) {
    const values = { ...scene.values, ...(await begin(scene, path, named)) };
    const fill = (text: string): string => bytesOf({ text }, values).toString('latin1');
    const provider = scene.upstreams.of.external;
    provider.answerWith(({ url = '' }) =>
      url.startsWith('/token')
        ? { status: 200, headers: JSON_TYPE, pieces: [bytesOf(tokens)], breaks: false }
        : undefined,
    );
    try {
      const answer = await send(scene.rpcUrl, {
        method,
        path: fill(path),
        headers: Object.fromEntries(
          Object.entries(named).map(([name, value]) => [name, fill(value)]),
        ),
        pieces: body === null || method === 'GET' ? [] : [bytesOf(body, values)],
      });
      if (answer.outcome === 'broken off') return ['the connection broke'];
      return [
        ...checkAnswer(answer, scene.secrets),
        ...checkOrigin(answer, named['origin']),
        ...checkLocation(answer, provider.url),
      ];
    } finally {
      provider.answerWith(undefined);
    }
  },
};

const JSON_TYPE = { 'content-type': 'application/json' };

/** Begins a sign-in, if the case names what is in its cookie. */
async function begin(
  scene: ServiceScene,
  path: string,
  named: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  if (!`${path} ${named['cookie'] ?? ''}`.includes('{{')) return {};
  const request = { method: 'GET', path: START, headers: {}, pieces: [] };
  const answer = await send(scene.rpcUrl, request);
  const [cookie = ''] = (answer.headers['set-cookie']?.[0] ?? '').split(';');
  const { location = '' } = answer.headers;
  const state = URL.canParse(location) ? new URL(location).searchParams.get('state') : null;
  return { oidc_cookie: cookie, state: state ?? '' };
}

/** A page of another origin is refused before anything happens. */
function checkOrigin({ status, headers: sent }: Answer, origin: string | undefined) {
  if (origin === undefined || !FOREIGN_ORIGINS.includes(origin)) return [];
  return [
    ...(status === 403 || status === 400 ? [] : [`status ${status} for the origin '${origin}'`]),
    ...(sent['set-cookie'] === undefined ? [] : [`a cookie for the origin '${origin}'`]),
  ];
}

/** A browser is sent to this service or to the provider, and nowhere else. */
function checkLocation({ headers: sent }: Answer, providerUrl: string): readonly string[] {
  const { location } = sent;
  if (location === undefined || /^\/(?![/\\])/.test(location)) return [];
  return location.startsWith(`${providerUrl}/`) ? [] : [`a redirect to ${location}`];
}
