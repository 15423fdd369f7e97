import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminTokenOf } from './admin-token.ts';

let dataDir = '';
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-admin-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test('a configured token is never shown', async () => {
  expect(await adminTokenOf({ adminToken: 'configured', dataDir }, true)).toEqual({
    value: 'configured',
    shown: { kind: 'configured' },
  });
});

test('a generated token is shown on a terminal, once', async () => {
  const config = { adminToken: undefined, dataDir };
  const file = join(dataDir, 'secrets', 'admin-token');
  const { value, shown } = await adminTokenOf(config, true);
  expect(shown).toEqual({ kind: 'created', file, value });
  expect(await adminTokenOf(config, true)).toEqual({ value, shown: { kind: 'kept', file } });
});

test('a generated token is not written where output goes to a file', async () => {
  const { shown } = await adminTokenOf({ adminToken: undefined, dataDir }, false);
  expect(shown).toEqual({ kind: 'kept', file: join(dataDir, 'secrets', 'admin-token') });
});
