import {
  preparedDataDir,
  rpcCall,
  startProcess,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { CLIENT, startProvider, type TestProvider } from '@model-gateway/testkit/oidc';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { createConsolePage, registerAdmin, type ConsolePage } from './console-page.ts';

// People sign in through a real provider, in real browsers. The tests continue each other.

const ADMIN = { email: 'admin@example.com', password: 'a long password' };
const SQUATTED = { email: 'boss@example.com', password: 'the password of a squatter' };
const LOCAL = { email: 'linda@example.com', password: 'the password of Linda' };
const ADMIN_GROUP = 'gateway-admins';
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';

interface SignedIn {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly user: { readonly id: string };
}

let folder: TemporaryFolder;
let provider: TestProvider;
let service: TestProcess;
let tools: readonly ToolUnderTest[] = [];
let boss: ConsolePage;
let admin: ConsolePage;
let squatter: SignedIn;
let squatterKey = '';

beforeAll(async () => {
  folder = await preparedDataDir();
  provider = await startProvider();
  service = await startProcess({
    app: 'standalone',
    env: {
      PATH,
      SERVICE_DATA_DIR: folder.path,
      SERVICE_OIDC_ISSUER: provider.issuer,
      SERVICE_OIDC_CLIENT_ID: CLIENT.id,
      SERVICE_OIDC_CLIENT_SECRET: CLIENT.secret,
      SERVICE_OIDC_ADMIN_GROUPS: ADMIN_GROUP,
    },
  });
  provider.allow(service.url);
  tools = [await startTool(), await startTool()];
  [boss, admin] = tools.map((tool) => createConsolePage(tool, service.url)) as [
    ConsolePage,
    ConsolePage,
  ];
  await registerAdmin(service.url, ADMIN);
  squatter = (await call('auth.register', SQUATTED)).result as SignedIn;
  const key = await call('keys.create', { name: 'k' }, squatter.access_token);
  squatterKey = (key.result as { readonly key: string }).key;
  await call('auth.register', LOCAL);
});
afterAll(async () => {
  for (const tool of tools) await tool.close();
  await service.stop();
  await provider.stop();
  await folder.remove();
});

const call = (method: string, params: unknown, bearer?: string) =>
  rpcCall(service.url, method, params, bearer);

/** Who signs in at the provider from now on. */
function become(email: string, groups: readonly string[]): void {
  provider.subject = `subject of ${email}`;
  provider.users.set(provider.subject, { email, email_verified: true, groups });
}

const modelsStatus = async (): Promise<number> => {
  const headers = { authorization: `Bearer ${squatterKey}` };
  return (await fetch(`${service.url}/v1/models`, { headers })).status;
};

const place = (page: ConsolePage) => page.evaluate('location.pathname');

test('whose address is squatted is asked for a password that they do not know', async () => {
  become(SQUATTED.email, [ADMIN_GROUP]);
  await boss.open('/console/sign-in');
  // The page asks which providers there are.
  await boss.see('Sign in – ');
  await boss.evaluate('document.querySelector("a[href^=\'/auth/oidc/start\']").click()');
  await boss.see('Link your account');
  await boss.see(SQUATTED.email);
  expect(await place(boss)).toBe('/console/sign-in/link');
  await boss.fill('Password of the account', 'not the password');
  await boss.press('Link and sign in');
  await boss.see('The password is wrong.');
  expect((await call('users.list', {}, squatter.access_token)).error).toMatchObject({
    code: -32_007,
  });
});

test('an admin lets them take the account over', async () => {
  await admin.signIn(ADMIN);
  await admin.open('/console/people');
  await admin.press(`Manage ${SQUATTED.email}`);
  await admin.press('Let the provider take it over');
  await admin.see(`Let the provider take over ${SQUATTED.email}?`);
  await admin.evaluate('document.querySelector("[role=alertdialog] .button-danger").click()');
  await admin.see('The next person whom the identity provider signs in');
  expect(await modelsStatus()).toBe(200);
});

test('then the account is theirs, and the squatter has nothing of it', async () => {
  await boss.evaluate('document.querySelector("a[href=\'/auth/oidc/start\']").click()');
  await boss.see('Playground');
  await boss.open('/console/people');
  await boss.see(ADMIN.email);
  expect(await modelsStatus()).toBe(401);
  const { access_token, refresh_token } = squatter;
  const refused = { code: -32_005 };
  expect((await call('auth.login', SQUATTED)).error).toMatchObject(refused);
  expect((await call('auth.me', {}, access_token)).error).toMatchObject(refused);
  expect((await call('auth.refresh', { refresh_token })).error).toMatchObject(refused);
});

test('who knows the password of the account links it once', async () => {
  await admin.evaluate('fetch("/api/session", { method: "DELETE" }).then(() => true)');
  become(LOCAL.email, []);
  await admin.open('/console/sign-in');
  const link = '/auth/oidc/start?return_to=/console/keys';
  await admin.evaluate(`location.assign(${JSON.stringify(link)})`);
  await admin.see('Link your account');
  await admin.fill('Password of the account', LOCAL.password);
  await admin.press('Link and sign in');
  await admin.see('Create a key');
  expect(await place(admin)).toBe('/console/keys');
  expect((await call('auth.login', LOCAL)).error).toBeUndefined();
});
