import { loadConfig } from '@model-gateway/kernel';
import { surfaceSettings } from './settings.ts';

const read = (environment: Record<string, string>) => loadConfig(surfaceSettings, environment);

test.each([
  'loopback',
  'loopback, uniquelocal',
  '10.0.0.0/8,192.168.1.1',
  '::1',
  'fd00::/8',
  '0',
  '2',
  'true',
  'false',
])('SERVICE_TRUST_PROXY may be %p', (text) => {
  expect(read({ SERVICE_TRUST_PROXY: text }).trustProxy).toBe(text);
});

test.each(['banana', 'loopback, banana', 'loopback,', '10.0.0.0/99', '300.1.1.1', '-1', 'True'])(
  'SERVICE_TRUST_PROXY may not be %p',
  (text) => {
    expect(() => read({ SERVICE_TRUST_PROXY: text })).toThrow(
      /SERVICE_TRUST_PROXY must be .*, not/,
    );
  },
);

test('origins are a comma list of what browsers send, or an asterisk', () => {
  const origins = (text: string) => read({ SERVICE_CORS_ORIGINS: text }).corsOrigins;
  expect(origins('*')).toEqual(['*']);
  expect(origins('https://app.example.com, http://localhost:3000,http://[::1]:8080')).toEqual([
    'https://app.example.com',
    'http://localhost:3000',
    'http://[::1]:8080',
  ]);
  expect(read({}).corsOrigins).toEqual([]);
});

test.each([
  'notaurl',
  'https://app.example.com,notaurl',
  'https://app.example.com/',
  'https://app.example.com/page',
  'https://app.example.com:443',
  'https://user@app.example.com',
  'ftp://app.example.com',
  'null',
  'https://*.example.com',
])('SERVICE_CORS_ORIGINS may not be %p, which no browser sends', (text) => {
  expect(() => read({ SERVICE_CORS_ORIGINS: text })).toThrow(
    /SERVICE_CORS_ORIGINS must be .*, not/,
  );
});

test('all invalid settings are named in one message', () => {
  const wrong = { SERVICE_TRUST_PROXY: 'banana', SERVICE_CORS_ORIGINS: 'notaurl' };
  expect(() => read(wrong)).toThrow(/SERVICE_CORS_ORIGINS.*SERVICE_TRUST_PROXY/);
});
