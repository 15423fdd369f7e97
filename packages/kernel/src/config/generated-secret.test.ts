import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatedSecret } from './generated-secret.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'secret-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('concurrent callers get the same secret, and exactly one created it', async () => {
  const secrets = await Promise.all(
    Array.from({ length: 20 }, () => generatedSecret(folder, 'jwt')),
  );
  expect(new Set(secrets.map((secret) => secret.value)).size).toBe(1);
  expect(secrets.filter((secret) => secret.created)).toHaveLength(1);
  expect(await generatedSecret(folder, 'jwt')).toMatchObject({
    value: secrets[0]?.value,
    created: false,
  });
});

test('only the owner can read the file', async () => {
  const { file } = await generatedSecret(folder, 'jwt');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a data directory that is a file is reported in one sentence', async () => {
  const file = join(folder, 'taken');
  await writeFile(file, '');
  await expect(generatedSecret(file, 'jwt')).rejects.toThrow(
    /cannot be written .* set SERVICE_DATA_DIR/,
  );
});
