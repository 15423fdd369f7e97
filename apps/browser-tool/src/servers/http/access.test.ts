import { checkAccess, checkListenHost } from './access.ts';

const access = (
  headers: Readonly<Record<string, string>>,
  rules: { port?: number; allowedHosts?: readonly string[]; token?: string } = {},
): string => {
  const { port = 8_080, allowedHosts = [], token } = rules;
  try {
    checkAccess(headers, { port: () => port, allowedHosts, token });
    return 'answered';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test.each([
  { host: 'localhost:8080', answer: 'answered' },
  { host: '127.0.0.1:8080', answer: 'answered' },
  { host: '[::1]:8080', answer: 'answered' },
  { host: 'localhost', answer: 'FORBIDDEN_HOST' },
  { host: 'localhost', port: 80, answer: 'answered' },
  { host: 'localhost.', answer: 'FORBIDDEN_HOST' },
  { host: '127.0.0.1:8080.evil.example', answer: 'FORBIDDEN_HOST' },
  { host: '', answer: 'FORBIDDEN_HOST' },
  { host: 'tool.internal', answer: 'FORBIDDEN_HOST' },
  { host: 'Tool.Internal', allowedHosts: ['tool.internal'], answer: 'answered' },
  { host: 'tool.internal:8080', allowedHosts: ['tool.internal'], answer: 'answered' },
  { host: 'tool.internal:8081', allowedHosts: ['tool.internal'], answer: 'FORBIDDEN_HOST' },
])('a Host of "$host" is $answer', ({ host, answer, ...rules }) => {
  expect(access({ host }, rules)).toBe(answer);
});

test.each([
  { origin: 'http://localhost:8080', answer: 'answered' },
  { origin: 'https://127.0.0.1:8080', answer: 'answered' },
  { origin: 'http://localhost:8081', answer: 'FORBIDDEN_ORIGIN' },
  { origin: 'null', answer: 'FORBIDDEN_ORIGIN' },
  { origin: '', answer: 'FORBIDDEN_ORIGIN' },
  { origin: 'http://localhost:8080.evil.example', answer: 'FORBIDDEN_ORIGIN' },
  { origin: 'file://', answer: 'FORBIDDEN_ORIGIN' },
])('an Origin of "$origin" is $answer', ({ origin, answer }) => {
  expect(access({ host: 'localhost:8080', origin })).toBe(answer);
});

test.each([
  { site: 'cross-site', answer: 'FORBIDDEN_ORIGIN' },
  { site: 'same-site', answer: 'FORBIDDEN_ORIGIN' },
  { site: 'same-origin', answer: 'answered' },
  { site: 'none', answer: 'answered' },
])('a Sec-Fetch-Site of "$site" is $answer', ({ site, answer }) => {
  expect(access({ host: 'localhost:8080', 'sec-fetch-site': site })).toBe(answer);
});

test('an allowed Origin is answered whatever its site, as the two names of this machine differ in it', () => {
  const headers = { host: '127.0.0.1:8080', origin: 'http://localhost:8080' };
  expect(access({ ...headers, 'sec-fetch-site': 'cross-site' })).toBe('answered');
});

test.each([
  { authorization: 'Bearer secret', answer: 'answered' },
  { authorization: 'bearer secret', answer: 'answered' },
  { authorization: 'Bearer secrets', answer: 'UNAUTHORIZED' },
  { authorization: 'Basic secret', answer: 'UNAUTHORIZED' },
  { authorization: '', answer: 'UNAUTHORIZED' },
])('an Authorization of "$authorization" is $answer', ({ authorization, answer }) => {
  expect(access({ host: 'localhost:8080', authorization }, { token: 'secret' })).toBe(answer);
});

const outcomeOf = (check: () => void): string => {
  try {
    check();
    return 'allowed';
  } catch (error) {
    return (error as Error).message;
  }
};

test.each([
  { host: '127.0.0.1', allowedHosts: [], answer: /^allowed$/ },
  { host: '::1', allowedHosts: [], answer: /^allowed$/ },
  { host: '0.0.0.0', allowedHosts: [], answer: /set BROWSER_TOKEN and BROWSER_ALLOWED_HOSTS$/ },
  {
    host: '0.0.0.0',
    token: 'secret',
    allowedHosts: [],
    answer: /set BROWSER_TOKEN and BROWSER_ALLOWED_HOSTS$/,
  },
  {
    host: '0.0.0.0',
    allowedHosts: ['tool.internal'],
    answer: /set BROWSER_TOKEN and BROWSER_ALLOWED_HOSTS$/,
  },
  { host: '::', token: 'secret', allowedHosts: ['tool.internal'], answer: /^allowed$/ },
])(
  'listening on $host with the token $token and the hosts $allowedHosts: $answer',
  ({ host, token, allowedHosts, answer }) => {
    expect(outcomeOf(() => checkListenHost(host, { token, allowedHosts }))).toMatch(answer);
  },
);
