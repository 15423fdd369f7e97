import { delimiter } from 'node:path';
import { withLibraryFolder } from './library-environment.ts';

test.each([
  { platform: 'linux', name: 'LD_LIBRARY_PATH' },
  { platform: 'darwin', name: 'DYLD_LIBRARY_PATH' },
  { platform: 'win32', name: 'PATH' },
])('on $platform shipped libraries come first by $name', ({ platform, name }) => {
  expect(withLibraryFolder({ A: '1' }, '/lib', platform)).toEqual({ A: '1', [name]: '/lib' });
  expect(withLibraryFolder({ [name]: '/old' }, '/lib', platform)).toEqual({
    [name]: `/lib${delimiter}/old`,
  });
});

test('without shipped libraries the environment stays as it is', () => {
  expect(withLibraryFolder({ A: '1' }, undefined)).toEqual({ A: '1' });
});
