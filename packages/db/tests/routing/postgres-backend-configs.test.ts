import { randomBytes } from 'node:crypto';
import { silentLog } from '@model-gateway/kernel';
import type { BackendConfig } from '@model-gateway/router';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { createDatabase } from '../../src/database.ts';

const config = (name: string, values: Partial<BackendConfig> = {}): BackendConfig => ({
  name,
  type: 'external',
  url: 'http://127.0.0.1:9000',
  apiKey: null,
  models: ['m1', 'm2'],
  capabilities: null,
  ...values,
});

describe('backend configurations in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase({ encryptionKey: randomBytes(32).toString('base64') });
  });

  afterEach(() => database.raw.query('DELETE FROM backend_configs'));
  afterAll(() => database.close());

  it('keep their order of registration, also when one replaces another of its name', async () => {
    await database.backendConfigs.save(config('b'));
    await database.backendConfigs.save(config('a', { capabilities: ['chat'] }));
    await database.backendConfigs.save(config('c'));
    const replaced = config('b', {
      url: 'http://127.0.0.1:9001',
      models: [],
      apiKey: 'sk-1',
      authHeader: 'api-key',
      capabilities: ['video'],
      dialects: ['responses'],
      limits: { rpm: 60, concurrency: 4 },
      apiKeys: ['sk-2', 'sk-3'],
    });
    const [before] = await database.backendConfigs.list();
    await database.backendConfigs.save(replaced);
    expect(await database.backendConfigs.list()).toMatchObject([
      replaced,
      config('a', { capabilities: ['chat'] }),
      config('c'),
    ]);
    const [after] = await database.backendConfigs.list();
    expect(after?.createdAt).toEqual(before?.createdAt);

    await database.backendConfigs.remove('a');
    await database.backendConfigs.remove('unknown');
    expect((await database.backendConfigs.list()).map(({ name }) => name)).toEqual(['b', 'c']);
  });

  it('are replaced only while they are what the caller knows', async () => {
    const { backendConfigs } = database;
    const stored = config('a', { apiKey: 'sk-1' });
    await backendConfigs.save(stored);
    const next = { ...stored, models: ['new'] };
    // Of changes at the same time one is made; the others know an old registration.
    const urls = Array.from({ length: 8 }, (_, index) => `http://127.0.0.1:${9_100 + index}`);
    const replaced = await Promise.all(
      urls.map((url) => backendConfigs.replace(stored, { ...next, url })),
    );
    expect(replaced.filter(Boolean)).toEqual([true]);
    expect(await backendConfigs.list()).toMatchObject([
      { ...next, url: urls[replaced.indexOf(true)] },
    ]);
    expect(await backendConfigs.replace(config('unknown'), config('unknown'))).toBe(false);
    expect(await backendConfigs.list()).toHaveLength(1);
  });

  it('keep a workflow of an old client', async () => {
    const legacy = config('a', { workflow: { nodes: [{ id: 1 }], name: 'old' } });
    await database.backendConfigs.save(legacy);
    expect(await database.backendConfigs.list()).toMatchObject([legacy]);
    await database.backendConfigs.save(config('a'));
    expect((await database.backendConfigs.list())[0]?.workflow).toBeUndefined();
  });

  it('hold the upstream key encrypted', async () => {
    await database.backendConfigs.save(config('a', { apiKey: 'sk-very-secret' }));
    const [row] = await database.raw.query<{ api_key: string }>(
      'SELECT api_key FROM backend_configs',
    );
    expect(row?.api_key).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
    expect(row?.api_key).not.toContain('secret');
    expect(await database.backendConfigs.list()).toMatchObject([
      config('a', { apiKey: 'sk-very-secret' }),
    ]);
  });

  it('are listed without the upstream key where the encryption key is another one or missing', async () => {
    await database.backendConfigs.save(config('a', { apiKey: 'sk-very-secret' }));
    for (const encryptionKey of [randomBytes(32).toString('base64'), undefined]) {
      const other = createDatabase({
        databaseUrl: database.raw.url,
        log: silentLog,
        encryptionKey,
      });
      expect(await other.backendConfigs.list()).toMatchObject([config('a')]);
      await other.close();
    }
  });

  it('never store an upstream key in the clear', async () => {
    const keyless = createDatabase({ databaseUrl: database.raw.url, log: silentLog });
    await expect(keyless.backendConfigs.save(config('a', { apiKey: 'sk-1' }))).rejects.toThrow(
      'SERVICE_ENCRYPTION_KEY',
    );
    await keyless.backendConfigs.save(config('a'));
    expect(await keyless.backendConfigs.list()).toMatchObject([config('a')]);
    await keyless.close();
  });
});
