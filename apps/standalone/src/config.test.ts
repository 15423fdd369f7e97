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

test('a process that does not serve preloads nothing', () => {
  const options = '--max-old-space-size=384 --import=/a.mjs -r ./b.cjs --require c';
  expect(readStandaloneConfig({ NODE_OPTIONS: options }).nodeOptions).toBe(
    '--max-old-space-size=384',
  );
});

test.each([
  { given: '3', processes: 3 },
  { given: undefined, processes: 1 },
])('SERVICE_PROCESSES of $given are $processes', ({ given, processes }) => {
  expect(
    readStandaloneConfig(given === undefined ? {} : { SERVICE_PROCESSES: given }),
  ).toHaveProperty('processes', processes);
});

test.each(['0', '65', '1.5', 'all'])('SERVICE_PROCESSES cannot be %s', (given) => {
  expect(() => readStandaloneConfig({ SERVICE_PROCESSES: given })).toThrow(
    /SERVICE_PROCESSES.*auto, or a number from 1 to 64/,
  );
});
