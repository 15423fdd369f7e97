import { flag, loadConfig, setting, text, urlWith, withDefault } from '@model-gateway/kernel';

const settings = {
  clusterUrl: setting('TEST_DATABASE_URL', urlWith('postgres', 'postgresql'), {
    description: 'a Postgres superuser for the tests',
    secret: true,
  }),
  template: setting('TEST_DATABASE_TEMPLATE', text(), {
    description: 'a migrated database there, of which test databases are copies',
  }),
  isFull: setting('TEST_FULL', withDefault(flag(), false), {
    description: 'whether tests that repeat themselves do so at full size',
  }),
};

/** Where tests make their databases, and of what they are copies. */
export const testCluster = () => loadConfig(settings, process.env);

/** How often a test repeats something: `small` in every run, `full` with `TEST_FULL=1`. */
export const fullSize = (full: number, { small }: { readonly small: number }): number =>
  testCluster().isFull ? full : small;
