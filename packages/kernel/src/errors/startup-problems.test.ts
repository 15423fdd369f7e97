import { STARTUP_PROBLEMS, startupError, unwritableError } from './startup-problems.ts';

test('a message has its values and ends with what to do', () => {
  expect(startupError('port_in_use', { port: 8080, host: '$&' }).message).toBe(
    'port 8080 on $& is already in use; stop the process that uses it or set SERVICE_PORT to another port',
  );
});

test.each([
  { what: 'a full disk', error: Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' }) },
  { what: 'a used-up quota', error: Object.assign(new Error('EDQUOT'), { code: 'EDQUOT' }) },
  { what: 'a full disk that a program meets', error: new Error('write: No space left on device') },
])('$what is called so, with what to do', ({ error }) => {
  expect(unwritableError('data', error).message).toBe(
    `the disk of data is full (${error.message}); ${STARTUP_PROBLEMS.disk_full.remedy}`,
  );
});

test('of a program that prints more, only the line about the disk is shown', () => {
  const error = new Error('Command failed: initdb\nFATAL: No space left on device\nAborted');
  expect(unwritableError('data', error).message).toMatch(
    /^the disk of data is full \(FATAL: No space left on device\); free space/,
  );
});

test('another failure to write is about the folder', () => {
  const error = Object.assign(new Error('EACCES: mkdir'), { code: 'EACCES' });
  expect(unwritableError('data', error).message).toMatch(
    /^the data directory data cannot be written \(EACCES: mkdir\); make it writable/,
  );
});
