import { urlAt } from './admin-token.ts';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['127.0.0.1', 'http://localhost:8080', 'http://127.0.0.1:8080'],
  ['127.0.0.1', 'http://localhost:8080/prefix', 'http://127.0.0.1:8080/prefix'],
  ['0.0.0.0', 'http://localhost:8080', 'http://127.0.0.1:8080'],
  ['0.0.0.0', 'http://127.0.0.2:8080', 'http://127.0.0.2:8080'],
  ['::', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['::', 'http://[::1]:8080', 'http://[::1]:8080'],
  ['::1', 'http://localhost:8080', 'http://[::1]:8080'],
  ['127.0.0.1', 'http://[::1]:8080', undefined],
  ['0.0.0.0', 'http://[::1]:8080', undefined],
  ['::1', 'http://127.0.0.1:8080', undefined],
  ['127.0.0.1', 'http://127.0.0.2:8080', undefined],
  ['127.0.0.1', 'http://127.0.0.1:8081', undefined],
  ['127.0.0.1', 'https://127.0.0.1:8080', undefined],
  ['0.0.0.0', 'http://gateway.example.com:8080', undefined],
  ['0.0.0.0', 'http://127.0.0.1', undefined],
])('listening on %s, the token for %s goes to %s', (host, given, url) => {
  expect(urlAt({ host, port: 8080 }, given)).toBe(url);
});
