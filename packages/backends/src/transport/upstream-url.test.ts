import { ServiceError } from '@model-gateway/contracts';
import { registeredKind } from '../factory/backend-kind.ts';
import { backendUrl, plainBase, upstreamPrefix } from './upstream-url.ts';

test.each([
  ['http://host:1234', 'http://host:1234/v1'],
  ['http://host:1234/', 'http://host:1234/v1'],
  ['https://host/v1', 'https://host/v1'],
  ['https://host/v1/', 'https://host/v1'],
  ['https://host/openai/v1//', 'https://host/openai/v1'],
  ['https://host/api?x=1#y', 'https://host/api'],
])('%s is prefixed %s', (base, prefix) => {
  expect(upstreamPrefix(new URL(base)).href).toBe(prefix);
});

test.each([
  ['http://host:11434', 'http://host:11434'],
  ['http://host:11434/', 'http://host:11434'],
  ['https://host/ollama//', 'https://host/ollama'],
])('the own API of %s is below %s', (url, base) => {
  expect(plainBase(new URL(url))).toBe(base);
});

test.each<[string, string]>([
  ['external', 'http://host'],
  ['external', 'bridge://gpu-1/chat'],
  ['local-server', 'https://host/ollama'],
  ['engine', 'ws://host:9000/engine'],
  ['engine', 'wss://host'],
  ['engine', 'bridge://gpu-1/engine'],
  ['cloud-video', 'https://host'],
])('a backend of the kind %s may be at %s', (kind, url) => {
  expect(backendUrl(registeredKind(kind), url).href).toContain(url);
});

test.each<[string, string]>([
  ['external', 'ftp://host'],
  ['external', 'file:///etc/passwd'],
  ['external', 'host:1234/x'],
  ['external', 'not a url'],
  ['external', 'ws://host'],
  ['local-server', 'unix:///run/ollama.sock'],
  ['cloud-video', 'wss://host'],
  ['engine', 'http://host'],
  ['external', 'http://name:word@host'],
  ['engine', 'ws://token@host'],
  ['external', 'bridge://'],
])('a backend of the kind %s may not be at %s', (kind, url) => {
  expect(() => backendUrl(registeredKind(kind), url)).toThrow(ServiceError);
  expect(() => backendUrl(registeredKind(kind), url)).toThrow(
    expect.objectContaining({ code: 'bad_url' }),
  );
});

test('the refusal of a URL does not repeat its credentials', () => {
  expect(() => backendUrl(registeredKind('external'), 'http://name:word@host')).not.toThrow(
    /word@/,
  );
  expect(() => backendUrl(registeredKind('external'), 'http://name:word@host')).toThrow(
    'use api_key',
  );
});
