import { integer, loadConfig, optional, setting, text, timerMs, withDefault } from './config.ts';
import { StartupError } from '../errors/errors.ts';

const settings = {
  port: setting('SERVICE_PORT', withDefault(integer(0, 65_535), 8080), { description: 'Port.' }),
  database: setting('DATABASE_URL', text(), { description: 'PostgreSQL to use.' }),
  secret: setting('SERVICE_JWT_SECRET', optional(integer(1)), {
    description: 'Secret.',
    secret: true,
    requiredInProduction: true,
  }),
  token: setting('SERVICE_ADMIN_TOKEN', optional(text()), {
    description: 'Token.',
    secret: true,
    minLengthInProduction: 4,
  }),
};

const problemsOf = (environment: Record<string, string>): string => {
  try {
    loadConfig(settings, environment);
  } catch (error) {
    if (error instanceof StartupError) return error.message;
  }
  return 'no problem';
};

test('unset and blank variables take their defaults', () => {
  expect(loadConfig(settings, { DATABASE_URL: 'x', SERVICE_PORT: ' ' })).toEqual({
    port: 8080,
    database: 'x',
    secret: undefined,
    token: undefined,
  });
});

test('every problem is reported at once', () => {
  const message = problemsOf({ SERVICE_PORT: 'eighty' });
  expect(message).toContain('SERVICE_PORT must be a whole number from 0 to 65535, not "eighty"');
  expect(message).toContain('DATABASE_URL is required (PostgreSQL to use.)');
});

test('the value of a secret is never shown', () => {
  expect(problemsOf({ DATABASE_URL: 'x', SERVICE_JWT_SECRET: 'hunter2' })).not.toContain('hunter2');
});

test('some variables are required in production only', () => {
  expect(problemsOf({ DATABASE_URL: 'x' })).toBe('no problem');
  expect(problemsOf({ DATABASE_URL: 'x', NODE_ENV: 'production' })).toContain(
    'SERVICE_JWT_SECRET is required when NODE_ENV=production',
  );
});

test('some variables must be longer in production', () => {
  const short = { DATABASE_URL: 'x', SERVICE_JWT_SECRET: '1', SERVICE_ADMIN_TOKEN: 'abc' };
  expect(problemsOf(short)).toBe('no problem');
  expect(problemsOf({ ...short, NODE_ENV: 'production' })).toBe(
    'invalid configuration: SERVICE_ADMIN_TOKEN must have at least 4 characters when NODE_ENV=production; correct these settings and start again',
  );
  const long = { ...short, SERVICE_ADMIN_TOKEN: 'abcd', NODE_ENV: 'production' };
  expect(problemsOf(long)).toBe('no problem');
});

test('a time that no timer can wait is refused', () => {
  const timers = { idleMs: setting('IDLE_MS', withDefault(timerMs(), 1), { description: 'x' }) };
  expect(loadConfig(timers, { IDLE_MS: '2147483647' })).toEqual({ idleMs: 2_147_483_647 });
  expect(() => loadConfig(timers, { IDLE_MS: '2147483648' })).toThrow(
    'IDLE_MS must be a whole number from 1 to 2147483647',
  );
});
