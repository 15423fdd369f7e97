import { upstreamPrefix } from './upstream-url.ts';

test.each([
  ['http://host:1234', 'http://host:1234/v1'],
  ['http://host:1234/', 'http://host:1234/v1'],
  ['https://host/v1', 'https://host/v1'],
  ['https://host/v1/', 'https://host/v1'],
  ['https://host/openai/v1//', 'https://host/openai/v1'],
  ['https://host/api?x=1#y', 'https://host/api'],
])('%s is prefixed %s', (base, prefix) => {
  expect(upstreamPrefix(base)?.href).toBe(prefix);
});

test.each(['ftp://host', 'file:///etc/passwd', 'host:1234/x', 'not a url'])(
  '%s is refused',
  (base) => {
    expect(upstreamPrefix(base)).toBeUndefined();
  },
);
