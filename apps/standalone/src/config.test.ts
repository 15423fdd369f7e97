import { readStandaloneConfig } from './config.ts';

const shown = (name: string, environment = {}) =>
  readStandaloneConfig(environment).settings.find((setting) => setting.name === name);

test.each(['DATABASE_URL', 'REDIS_URL'])(
  'without %s the settings say that the store is embedded, and never show one that is given',
  (name) => {
    expect(shown(name)).toMatchObject({ value: 'embedded', isSet: true, source: 'default' });
    const url = `${name === 'REDIS_URL' ? 'redis' : 'postgres'}://user:hunter2@host:1/0`;
    const given = shown(name, { [name]: url });
    expect(given).toMatchObject({ source: 'environment' });
    expect(JSON.stringify(given)).not.toContain('hunter2');
  },
);

test('without SERVICE_ADMIN_TOKEN the settings say that it is in the data directory', () => {
  expect(shown('SERVICE_ADMIN_TOKEN')).toMatchObject({ value: null, isSet: true, source: 'file' });
});
