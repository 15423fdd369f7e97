import { optional, setting, text } from './config.ts';
import { unknownSettings } from './unknown-settings.ts';

const notes = { description: 'x' };
const settings = {
  port: setting('SERVICE_PORT', optional(text()), notes),
  dataDir: setting('SERVICE_DATA_DIR', optional(text()), notes),
  database: setting('DATABASE_URL', optional(text()), notes),
};

test('variables that look like settings and are none are named, with the one that is probably meant', () => {
  const environment = {
    SERVICE_PORT: '1',
    SERVICE_PROT: '2',
    SERVICE_DATADIR: '3',
    SERVICE_SOMETHING_ELSE: '4',
    DATABASE_URI: '5',
    PATH: '6',
  };
  expect(unknownSettings(settings, environment)).toEqual([
    { name: 'SERVICE_DATADIR', similar: 'SERVICE_DATA_DIR' },
    { name: 'SERVICE_PROT', similar: 'SERVICE_PORT' },
    { name: 'SERVICE_SOMETHING_ELSE', similar: undefined },
  ]);
});
