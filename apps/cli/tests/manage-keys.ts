import { waitUntil } from '@model-gateway/testkit';
import type { CommandLine } from './command-line.ts';

/** Creates, changes, rotates and revokes keys by name. */
export async function manageKeys(gateway: CommandLine, url: string): Promise<void> {
  const created = await gateway.run(['keys', 'create', 'my key', '--project', 'tests']);
  expect(created.stdout).toMatch(/^service-\S+\n$/);
  const models = () =>
    fetch(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${created.stdout.trim()}` },
    });
  expect((await models()).status).toBe(200);
  const doctorWith = async (GATEWAY_API_KEY: string): Promise<string> =>
    (await gateway.runHere(['doctor'], { env: { GATEWAY_API_KEY } })).stdout;
  expect(await doctorWith(created.stdout.trim())).toMatch(/^ok +nodes [^]*^ok +api-key /m);
  expect(await doctorWith('service-wrong')).toMatch(/^failed +api-key /m);
  expect(await gateway.json(['keys', 'list'])).toMatchObject({
    keys: [{ name: 'my key', project: 'tests', active: true }],
  });
  const update = ['keys', 'update', 'my key', '--budget', '5', '--period', 'week', '--rpm', '9'];
  await gateway.runHere(update);
  expect((await gateway.runHere(['keys', 'list'])).stdout).toMatch(
    /^my key .* active +9 requests\/min, \$5\.00\/week +20/m,
  );
  expect(await gateway.json([...update, '--model', 'gpt-*', '--model', 'demo'])).toMatchObject({
    budget_usd: 5,
    budget_period: 'week',
    rpm: 9,
    models: ['gpt-*', 'demo'],
  });
  expect(
    await gateway.json(['keys', 'update', 'my key', '--rpm', 'none', '--model', 'none']),
  ).toMatchObject({ budget_usd: 5, rpm: null, models: null });
  const rotated = await gateway.runHere(['keys', 'rotate', 'my key', '--grace', '60']);
  expect(rotated.stdout).toMatch(/^service-[0-9a-f-]{36}\n$/);
  expect(rotated.stdout).not.toBe(created.stdout);
  const expires = new Date(Date.now() + 2_000).toISOString();
  await gateway.runHere(['keys', 'create', 'short', '--expires', expires]);
  await waitUntil(
    async () => /^short .* expired /m.test((await gateway.runHere(['keys', 'list'])).stdout),
    { what: 'the key to expire' },
  );
  const extended = await gateway.json(['keys', 'update', 'short', '--expires', 'none']);
  expect(extended).toMatchObject({ active: true, expires_at: null });
  expect((await gateway.runHere(['keys', 'revoke', 'short'])).status).toBe(0);
  expect((await gateway.runHere(['keys', 'list'])).stdout).not.toMatch(/^short /m);
  expect((await gateway.runHere(['keys', 'list', '--all'])).stdout).toMatch(/^short .* revoked /m);
  await gateway.runHere(['keys', 'create', 'twice']);
  await gateway.runHere(['keys', 'create', 'twice']);
  expect(await gateway.runHere(['keys', 'revoke', 'twice'])).toMatchObject({ status: 2 });
  expect(await gateway.runHere(['keys', 'revoke', 'none'])).toMatchObject({ status: 5 });
  expect((await gateway.runHere(['keys', 'revoke', 'my key'])).status).toBe(0);
  expect((await models()).status).toBe(401);
}
