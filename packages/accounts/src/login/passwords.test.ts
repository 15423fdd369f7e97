import { createPasswords, DUMMY_PASSWORD_HASH } from './passwords.ts';

const passwords = createPasswords();
/** For what does not depend on the cost. */
const cheap = createPasswords({ memoryCost: 1024, timeCost: 2, parallelism: 1 });

const REGISTRATIONS = 8;

const parametersOf = (hash: string): string => hash.split('$').slice(0, 4).join('$');

test('a password is known by its argon2id hash', async () => {
  const hash = await cheap.hash('correct horse');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=1024,t=2,p=1\$/);
  expect(await cheap.verify(hash, 'correct horse')).toBe(true);
  expect(await cheap.verify(hash, 'correct horsf')).toBe(false);
});

test('a login does not wait for registrations that came before it', async () => {
  const known = await passwords.hash('correct horse');
  let hashed = 0;
  const registrations = Array.from({ length: REGISTRATIONS }, async () => {
    await passwords.hash('another password');
    hashed += 1;
  });
  expect(await passwords.verify(known, 'correct horse')).toBe(true);
  expect(hashed).toBeLessThan(REGISTRATIONS);
  await Promise.all(registrations);
});

test('the hash that stands in for unknown accounts costs as much to check as a real one', async () => {
  const real = await passwords.hash('correct horse');
  expect(parametersOf(DUMMY_PASSWORD_HASH)).toBe(parametersOf(real));
  expect(DUMMY_PASSWORD_HASH).toHaveLength(real.length);
  expect(await passwords.verify(DUMMY_PASSWORD_HASH, '')).toBe(false);
});

test('a password that is too long is wrong, even where the empty one would be right', async () => {
  const empty = await cheap.hash('');
  expect(await cheap.verify(empty, 'x'.repeat(129))).toBe(false);
  const longest = await cheap.hash('x'.repeat(128));
  expect(await cheap.verify(longest, 'x'.repeat(128))).toBe(true);
  expect(await cheap.verify(longest, 'x'.repeat(129))).toBe(false);
});
