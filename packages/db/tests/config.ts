import { loadConfig, setting, text, urlWith } from '@model-gateway/kernel';

const settings = {
  clusterUrl: setting('TEST_DATABASE_URL', urlWith('postgres', 'postgresql'), {
    description: 'a Postgres superuser for the tests',
    secret: true,
  }),
  template: setting('TEST_DATABASE_TEMPLATE', text(), {
    description: 'a migrated database there, of which test databases are copies',
  }),
};

/** Where tests make their databases, and of what they are copies. */
export const testCluster = () => loadConfig(settings, process.env);
