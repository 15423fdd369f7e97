import { userInfo } from 'node:os';
import { join } from 'node:path';
import { readCliConfig } from './config.ts';

test.each([
  { HOME: '/srv/ada', folder: '/srv/ada/.config' },
  { HOME: '/srv/ada', XDG_CONFIG_HOME: '/etc/ada', folder: '/etc/ada' },
  { folder: join(userInfo().homedir, '.config') },
  { HOME: '', folder: join(userInfo().homedir, '.config') },
  { HOME: '.', folder: join(userInfo().homedir, '.config') },
])('credentials are kept below $folder, never in the current folder', ({ folder, ...given }) => {
  expect(readCliConfig(given).configDir).toBe(join(folder, 'model-gateway'));
});
