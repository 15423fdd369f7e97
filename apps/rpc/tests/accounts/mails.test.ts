import { startSmtpServer, waitUntil, type TestSmtpServer } from '@model-gateway/testkit';
import { startRpc, type RpcServer } from '../rpc-server.ts';

const PUBLIC_URL = 'https://gateway.example.com';

let smtp: TestSmtpServer;
let rpc: RpcServer;
beforeAll(async () => {
  smtp = await startSmtpServer();
  rpc = await startRpc({ SERVICE_SMTP_URL: smtp.url, SERVICE_PUBLIC_URL: PUBLIC_URL });
});
afterAll(async () => {
  await rpc.test.close();
  await smtp.close();
});

/** The text of the mails to an address, without the line breaks of their encoding. */
const mailsTo = (address: string): readonly string[] =>
  smtp.mails
    .filter(({ to }) => to.includes(address))
    .map(({ text }) => text.replaceAll('=\r\n', '').replaceAll('=3D', '='));

test('a reset link is mailed to the user, and still shown to the admin', async () => {
  const admin = await rpc.createAccount('admin@example.com');
  const { id, email } = await rpc.createAccount('user@example.com');
  const { result } = await rpc.call('users.reset_link', { user_id: id }, admin.token);
  const { link, mailed } = result as { link: string; mailed: boolean };
  expect(link).toMatch(/^https:\/\/gateway\.example\.com\/console\/reset#rst-/);
  expect(mailed).toBe(true);
  expect(mailsTo(email)).toEqual([expect.stringContaining(link)]);
});

test('an invitation for an address is mailed to it, and few an hour', async () => {
  const owner = await rpc.createAccount('owner@example.com');
  const { result } = await rpc.call('group.create', { name: 'Team' }, owner.token);
  const { id: group_id } = result as { id: string };
  const invite = (params: object) =>
    rpc.call('group.invite.create', { group_id, ...params }, owner.token);
  const { token } = (await invite({ email: 'guest@example.com' })).result as { token: string };
  expect(mailsTo('guest@example.com')).toEqual([expect.stringContaining(token)]);
  const before = smtp.mails.length;
  // Without an address there is nobody to mail it to.
  await invite({});
  expect(smtp.mails).toHaveLength(before);
  for (let index = 0; index < 31; index += 1) await invite({ email: `guest-${index}@example.com` });
  expect(smtp.mails.length - before).toBe(29);
});

test('a mail that is refused does not fail the call', async () => {
  const admin = await rpc.createAccount('second@example.com');
  await rpc.test.query('UPDATE users SET is_admin = true WHERE id = $1', [admin.id]);
  const { id } = await rpc.createAccount('refused@example.com');
  await waitUntil(
    async () => {
      const { result } = await rpc.call('users.reset_link', { user_id: id }, admin.token);
      return (result as { link?: string } | undefined)?.link !== undefined;
    },
    { what: 'the link' },
  );
  expect(mailsTo('refused@example.com')).toEqual([]);
});
