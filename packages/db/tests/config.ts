import { loadConfig, setting, urlWith } from '@model-gateway/kernel';

/** The cluster that tests make their databases in, as its superuser. */
export function testClusterUrl(): string {
  const settings = {
    url: setting('TEST_DATABASE_URL', urlWith('postgres', 'postgresql'), {
      description: 'a Postgres superuser for the tests',
      secret: true,
    }),
  };
  return loadConfig(settings, process.env).url;
}
