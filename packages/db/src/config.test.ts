import { randomBytes } from 'node:crypto';
import { loadConfig } from '@model-gateway/kernel';
import { databaseSettings, optionalDatabaseUrlSetting } from './config.ts';

const DATABASE_URL = 'postgres://user:very-secret@127.0.0.1/gateway';

describe('the settings of the database', () => {
  it('need no more than an address in development', () => {
    expect(loadConfig(databaseSettings, { DATABASE_URL })).toEqual({
      databaseUrl: DATABASE_URL,
      migrate: true,
    });
    expect(loadConfig({ databaseUrl: optionalDatabaseUrlSetting }, {})).toEqual({
      databaseUrl: undefined,
    });
  });

  it('can leave migrating to another process', () => {
    expect(loadConfig(databaseSettings, { DATABASE_URL, SERVICE_MIGRATE: '0' }).migrate).toBe(
      false,
    );
  });

  it('need an encryption key in production, of the right length', () => {
    const environment = { DATABASE_URL, NODE_ENV: 'production' };
    expect(() => loadConfig(databaseSettings, environment)).toThrow(
      'SERVICE_ENCRYPTION_KEY is required',
    );
    const encryptionKey = randomBytes(32).toString('base64');
    expect(
      loadConfig(databaseSettings, { ...environment, SERVICE_ENCRYPTION_KEY: encryptionKey }),
    ).toMatchObject({
      encryptionKey,
    });
    expect(() =>
      loadConfig(databaseSettings, { ...environment, SERVICE_ENCRYPTION_KEY: 'c2hvcnQ=' }),
    ).toThrow('SERVICE_ENCRYPTION_KEY must be 32 bytes in base64');
  });

  it.each([
    { why: 'no address', environment: {} },
    {
      why: 'another kind of address',
      environment: { DATABASE_URL: 'mysql://user:very-secret@127.0.0.1/gateway' },
    },
    { why: 'no address at all', environment: { DATABASE_URL: 'user:very-secret@' } },
  ])('are refused without showing the password: $why', ({ environment }) => {
    expect(() => loadConfig(databaseSettings, environment)).toThrow(
      /^(?!.*very-secret).*DATABASE_URL/,
    );
  });
});
