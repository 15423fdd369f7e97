import { rpcCall } from '@model-gateway/testkit';
import type { CommandLine } from './command-line.ts';

const EMAIL = 'person@example.com';
const PASSWORD = 'a long password of the person';

/** Every command about accounts, with one that is made for it. */
export async function manageUsers(gateway: CommandLine, url: string): Promise<void> {
  await rpcCall(url, 'auth.register', { email: EMAIL, password: PASSWORD });
  const { users } = (await gateway.json(['users', 'list', '--search', 'person@'])) as {
    readonly users: readonly { readonly id: string }[];
  };
  expect(users).toEqual([expect.objectContaining({ email: EMAIL, is_admin: false })]);
  const [{ id } = { id: '' }] = users;
  const page = await gateway.runHere(['users', 'list', '--limit', '1']);
  expect(page.stderr).toMatch(/^There are more: --after [\da-f-]{36}\n$/);
  expect((await gateway.runHere(['users', 'list', '--admins'])).stdout).not.toContain(EMAIL);
  expect((await gateway.runHere(['users', 'show', EMAIL])).stdout).toMatch(
    /^Email +person@example\.com\n[^]*^State +active$/m,
  );
  // Without a sign-in, the admin token of the machine is used.
  const elsewhere = { env: { HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' } };
  expect(await gateway.json(['users', 'show', id], elsewhere)).toMatchObject({ email: EMAIL });

  const update = ['users', 'update', EMAIL];
  expect(await gateway.runHere(update)).toMatchObject({ status: 2 });
  expect(await gateway.json([...update, '--tier', 'pro', '--name', 'A Person'])).toMatchObject({
    tier: 'pro',
    name: 'A Person',
  });
  expect((await gateway.runHere([...update, '--tier', 'gold'])).status).not.toBe(0);
  expect(await gateway.json([...update, '--role', 'admin'])).toMatchObject({ is_admin: true });
  const changed = await gateway.runHere([...update, '--role', 'user', '--state', 'inactive']);
  expect(changed.stdout).toBe(`Changed ${EMAIL}: tier pro, user, inactive.\n`);
  const listed = await gateway.runHere(['users', 'list', '--state', 'inactive']);
  expect(listed.stdout).toContain(EMAIL);
  expect(await gateway.json([...update, '--state', 'active'])).toMatchObject({ active: true });

  const { stdout: link } = await gateway.runHere(['users', 'reset-link', EMAIL]);
  expect(link).toContain(`${url}/`);

  const unconfirmed = await gateway.runHere(['users', 'erase', EMAIL]);
  expect(unconfirmed).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
  expect(await gateway.json(['users', 'erase', EMAIL, '--yes'])).toMatchObject({ id, ok: true });
  expect(await gateway.runHere(['users', 'show', EMAIL])).toMatchObject({ status: 5 });
  expect((await gateway.runHere(['users', 'show', id])).stdout).toMatch(/^State +erased$/m);
}
