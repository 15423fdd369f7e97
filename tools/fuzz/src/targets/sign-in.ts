import * as fc from 'fast-check';
import { like } from '../grammar/examples.ts';
import { hostileValue } from '../grammar/hostile.ts';
import { jsonText } from '../grammar/json-text.ts';
import { bytesOf, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { send, type Answer } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';
import { checkCase, httpCases, oddQuery, sendCase, type HttpCase } from './http-case.ts';

interface SignInCase extends HttpCase {
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
const query = oddQuery(
  ['state', 'code', 'return_to', 'error', 'iss', 'id_token', '__proto__'],
  queryValue,
);
/** What a provider sends back with a browser that it has signed in. */
const usualQuery = fc.constantFrom(
  '?code=c&state={{state}}',
  '?error=access_denied&state={{state}}',
);
const tokens = onTheWire(fc.oneof(jsonText(like('oidc-tokens')), hostileValue));

/** Signing in and out with a browser, by a password or a provider, from pages of any origin. */
export const signIn: Target<SignInCase, ServiceScene> = {
  name: 'sign-in',
  about: 'sessions of browsers, sign-in through OIDC, cookies and origins',
  scene: 'service',
  shortCases: 90,
  cases: () =>
    Promise.resolve(
      fc
        .tuple(
          fc.oneof(
            ...['POST', 'DELETE'].map((method) =>
              httpCases({
                method,
                path: fc.constantFrom(...SESSION_PATHS),
                headers,
                body: onTheWire(jsonText(like('credentials'))),
              }),
            ),
            httpCases({
              method: 'GET',
              path: fc
                .tuple(fc.constantFrom(...OIDC_PATHS), fc.oneof(query, usualQuery))
                .map((parts) => parts.join('')),
              headers,
            }),
          ),
          tokens,
        )
        .map(([request, answered]) => ({ ...request, tokens: answered })),
    ),
  async run(each, scene) {
    const values = { ...scene.values, ...(await begin(scene, each)) };
    const provider = scene.upstreams.of.external;
    provider.answerWith(({ url = '' }) =>
      url.startsWith('/token')
        ? { status: 200, headers: JSON_TYPE, pieces: [bytesOf(each.tokens)], breaks: false }
        : undefined,
    );
    try {
      const answer = await sendCase(each, scene.rpcUrl, values);
      const problems = await checkCase(each, answer, scene.rpcUrl, scene);
      if (problems.length > 0 || answer.outcome !== 'answered') return problems;
      return [
        ...checkOrigin(answer, each.headers['origin']),
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
  { path, headers: named }: SignInCase,
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
