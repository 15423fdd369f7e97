import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  preparedDataDir,
  startProcess,
  waitUntil,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import {
  startChatUpstream,
  startCloudVideo,
  type RunningChatUpstream,
  type RunningCloudVideo,
} from '@model-gateway/testkit/upstreams';
import { startTool, type ToolUnderTest } from '../tool.ts';

// The whole way of a new installation, in a real browser: the built console, under its own Content-Security-Policy,
// against the built service. The tests continue each other.

const ADMIN = { email: 'admin@example.com', password: 'a long password' };
const UPSTREAM_KEY = 'the key of the upstream';
const ENGINE = fileURLToPath(
  new URL('../../../gpu-agent/tests/child/chat-engine.mjs', import.meta.url),
);
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';
const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };

let folder: TemporaryFolder;
let service: TestProcess;
let node: TestProcess | undefined;
let upstream: RunningChatUpstream;
let video: RunningCloudVideo;
let tool: ToolUnderTest;
let key = '';

beforeAll(async () => {
  folder = await preparedDataDir();
  upstream = await startChatUpstream({ models: ['cloud-model'], apiKey: UPSTREAM_KEY });
  video = await startCloudVideo();
  service = await startProcess({
    app: 'standalone',
    env: {
      PATH,
      SERVICE_DATA_DIR: folder.path,
      SERVICE_API_RATE_LIMIT_RPM: '100000',
      SERVICE_WEBHOOK_ALLOW_PRIVATE: '1',
    },
  });
  tool = await startTool();
  await tool.post('/resize', WIDE);
});
afterAll(async () => {
  await tool.close();
  await node?.stop();
  await service.stop();
  await upstream.close();
  await video.close();
  await folder.remove();
});

/** Acts on an element, and fails with what the page shows instead. */
async function act(path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await tool.post(path, { timeout_ms: 30_000, ...body });
  if (answer.ok) return;
  throw new Error(`${answer.error}\n${String(await evaluate('document.body.innerText'))}`);
}

async function evaluate(expression: string): Promise<unknown> {
  const { data } = await tool.post('/evaluate', { expression });
  return (data as { readonly result?: unknown } | undefined)?.result;
}

const open = (path: string) => tool.open(`${service.url}${path}`);

/** Waits until the page shows a text. */
const see = (text: string): Promise<void> =>
  waitUntil(async () => String(await evaluate('document.body.innerText')).includes(text), {
    what: `the text “${text}”`,
  });

const named = (tag: string, name: string): string =>
  `//${tag}[normalize-space()="${name}" or @aria-label="${name}"]`;
const field = (label: string): string =>
  `//label[normalize-space()="${label}"]/following::*[self::input or self::textarea][1]`;

const press = (name: string, within = ''): Promise<void> =>
  act('/click', { target: `xpath=(${within}${named('button', name)})[1]` });
const fill = (label: string, text: string): Promise<void> =>
  act('/type', { target: field(label), text });
const visit = (name: string): Promise<void> => act('/click', { target: named('a', name) });
const DIALOG = '//*[@role="dialog" or @role="alertdialog"]';
const closed = (): Promise<void> =>
  waitUntil(async () => (await evaluate('document.querySelector(".dialog") === null')) === true, {
    what: 'the end of the dialog',
  });

test('a new installation is set up, also after a break: account, demo model, key, a streamed chat and its usage row', async () => {
  await open('/');
  await see('Set up Model Gateway');
  await fill('Email', ADMIN.email);
  await fill('Password', ADMIN.password);
  await press('Create the account');
  await see('This account is the admin. It is on the tier enterprise.');
  await open('/console/');
  await press('Use the demo model');
  await press('Create a key');
  await see('Copy it now.');
  key = String(await evaluate('document.querySelector(".secret code").textContent'));
  expect(key).toMatch(/^service-/);
  await press('I have copied it');
  await press('Send');
  await see('What this chat used');
  await waitUntil(
    async () =>
      String(await evaluate('document.querySelector("table")?.innerText')).includes('demo-chat'),
    { what: 'the usage row of the chat' },
  );
  const code = String(await evaluate('document.querySelector(".code-block pre").textContent'));
  expect(code).toContain(`${service.url}/v1/chat/completions`);
  expect(code).toContain(key);
});

test('a wrong backend says why, and is mended', async () => {
  await open('/console/backends');
  await press('Add a backend');
  await press('OpenAI');
  await fill('Name', 'cloud');
  await fill('Address', 'ftp://nowhere');
  await press('Test and add');
  await see('Enter an address that starts with https://');
  await fill('Address', upstream.url);
  await fill('API key', 'a wrong key');
  await press('Test and add');
  await see('check the api_key of the backend');
  await press('Add anyway');
  await see('Degraded');
  await press('Edit cloud');
  await fill('API key', UPSTREAM_KEY);
  await act('/click', { target: `${DIALOG}//summary` });
  await fill('Requests per minute', '0');
  await see('Enter a whole number from 1');
  await fill('Requests per minute', '600');
  await press('Save');
  await see('Healthy');
  await press('Test cloud');
  await see('cloud-model answered in');
});

test('a model is deployed on a GPU node, with its progress', async () => {
  await visit('Nodes');
  await press('Register a node');
  await fill('Name of the machine', 'gpu-1');
  await press('Register');
  await see('Start the agent on the machine');
  const command = String(await evaluate('document.querySelector(".secret code").textContent'));
  const [, token = ''] = /AGENT_TOKEN=(\S+)/.exec(command) ?? [];
  await press('I have copied it');
  const config = join(folder.path, 'engines.json');
  const engine = ['--model', '{id}', '--host', '{host}', '--port', '{port}'];
  const runs = { default: { command: [process.execPath, ENGINE, ...engine] } };
  await writeFile(config, JSON.stringify(runs));
  node = await startProcess({
    app: 'gpu-agent',
    args: ['--url', service.url, '--config', config],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', AGENT_TOKEN: token },
    readyPath: null,
  });
  await see('Online');
  await press('Deploy a model on gpu-1');
  await fill('Model', 'tiny');
  await press('Deploy');
  await see('Ready');
  await press('Close', DIALOG);
  await see('tiny');
});

test('a video job is submitted and followed until it is done', async () => {
  await open('/console/backends#new');
  await press('Other');
  await act('/click', { target: `${DIALOG}//*[@role="combobox"]` });
  await act('/click', { target: '//*[@role="option"][normalize-space()="Video cloud"]' });
  await fill('Name', 'studio');
  await fill('Address', video.url);
  await fill('API key', 'any');
  await fill('Models', 'video-model');
  await press('Test and add');
  await see('studio');
  await closed();
  await visit('Video');
  await press('New video');
  await fill('Description', 'A cat plays the piano.');
  await press('Create');
  await see('Open the video');
});

test('new requests appear by themselves, and a click on one opens it', async () => {
  const rows = async (): Promise<number> =>
    Number(await evaluate('document.querySelectorAll("tbody tr").length'));
  const ask = async (): Promise<void> => {
    const { status } = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'One.' }] }),
    });
    expect(status).toBe(200);
  };
  await visit('Requests');
  await see('Live: new requests appear by themselves');
  const before = await rows();
  await ask();
  await waitUntil(async () => (await rows()) > before, { what: 'the row of the request' });
  await act('/click', { target: 'tbody tr:first-child td:nth-child(3)' });
  await see('Your reference');
  await press('Close', DIALOG);
});

test('the way of a request is explained, from the list of models', async () => {
  await visit('Models');
  await visit('Explain where requests for cloud-model go');
  await see('cloud-model has no route');
  await waitUntil(
    async () =>
      /1\s+cloud-model@cloud\s+Tried[^]*Does not list the model/.test(
        String(await evaluate('document.querySelector("tbody")?.innerText')),
      ),
    { what: 'the targets in their order' },
  );
});

test('a webhook is added, tried and removed', async () => {
  await visit('Webhooks');
  await press('Add a webhook');
  await press('Add', DIALOG);
  await see('Choose at least one event.');
  await fill('Address', `${upstream.url}/hook`);
  await act('/click', { target: '//label[normalize-space()="A video is done"]/input' });
  await press('Add', DIALOG);
  await see('Copy the signing secret');
  expect(await evaluate('document.querySelector(".secret code").textContent')).toMatch(/^whsec_/);
  await press('I have copied it');
  await press(`Deliveries to ${upstream.url}/hook`);
  await press('Send a test');
  await see('webhook.test');
  await press('Close', DIALOG);
  await press(`Remove ${upstream.url}/hook`);
  await press('Remove the webhook');
  await see('No webhook yet.');
});

test('the settings are shown with where they come from, and no secret', async () => {
  await visit('Settings');
  await see('SERVICE_JWT_SECRET');
  const row = (name: string): Promise<unknown> =>
    evaluate(
      `[...document.querySelectorAll("tbody tr")].find((row) => row.querySelector("code").textContent === "${name}").innerText`,
    );
  expect(await row('SERVICE_API_RATE_LIMIT_RPM')).toMatch(/100000[^]*Environment/);
  for (const generated of ['SERVICE_JWT_SECRET', 'SERVICE_ADMIN_TOKEN'])
    expect(await row(generated)).toMatch(/Set[^]*Data directory/);
  for (const name of ['DATABASE_URL', 'REDIS_URL']) expect(await row(name)).toMatch(/embedded/);
});

test('the key works until it is revoked', async () => {
  const models = (): Promise<Response> =>
    fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  expect((await models()).status).toBe(200);
  await visit('Keys');
  await press('Revoke: First key');
  await press('Revoke the key');
  await see('Revoked');
  await waitUntil(async () => (await models()).status === 401, { what: 'the refusal of the key' });
});

test('no secret is in the address or in what scripts can read from the browser', async () => {
  const readable = String(
    await evaluate(
      'JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie])',
    ),
  );
  expect(readable).toContain('/console/keys');
  // A JWT begins so.
  expect(readable).not.toContain('eyJ');
  expect(readable).not.toContain(key);
  expect(readable).not.toMatch(/token/i);
});

test('no page scrolls sideways on a phone, and none breaks the policy of the service', async () => {
  const paths = await evaluate(
    '[...document.querySelectorAll("nav a")].map((link) => link.getAttribute("href"))',
  );
  expect(paths).toContain('/console/audit');
  await tool.post('/resize', PHONE);
  for (const path of paths as readonly string[]) {
    await open(path);
    await waitUntil(async () => (await evaluate('document.querySelector("h1") !== null')) === true);
    const width = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
    expect([path, await evaluate(width)]).toEqual([path, true]);
  }
  await tool.post('/resize', WIDE);
  const { data } = await tool.get('/console?level=error&all=true');
  const { entries } = data as { readonly entries: readonly { readonly text: string }[] };
  // A browser without a session gets this status.
  expect(entries.map(({ text }) => text).filter((text) => !text.includes('401'))).toEqual([]);
});

test('signing out and in again needs only the keyboard, and leads back to the page', async () => {
  await signOut();
  await open('/console/audit');
  await see('Password');
  for (const text of [ADMIN.email, ADMIN.password]) {
    await tabTo('input');
    await act('/type', { target: ':focus', text });
  }
  await act('/press', { key: 'Enter' });
  await see('Every change by an admin');
  expect(await evaluate('location.pathname')).toBe('/console/audit');
});

test('a person changes their own password, and signs in with the new one', async () => {
  await menu('Account and password');
  await see('All your other sign-ins end.');
  const change = async (current: string, next: string, again = next): Promise<void> => {
    await fill('Current password', current);
    await fill('New password', next);
    await fill('New password, again', again);
    await press('Change the password');
  };
  const second = 'a second password';
  await change(ADMIN.password, second, 'a second pasword');
  await see('The two new passwords differ.');
  // A wrong password is sent once: five of them end the attempts for a while.
  for (const wrong of ['1', '2', '3', '4']) {
    await change(wrong, second);
    await see('This is not your current password.');
  }
  await change(ADMIN.password, second);
  await see('The password was changed.');
  await signOut();
  await fill('Email', ADMIN.email);
  await fill('Password', ADMIN.password);
  await press('Sign in');
  await see('Email or password is wrong.');
  await fill('Password', second);
  await press('Sign in');
  await see('Change the password');
  expect(await evaluate('location.pathname')).toBe('/console/account');
});

test('a second person accepts an invitation to a group, and sees no page of admins', async () => {
  await visit('Groups');
  await press('Create a group');
  await fill('Name', 'Research');
  await press('Create a group', DIALOG);
  await press('Invite');
  await see('Only this person can accept.');
  await press('Invite', DIALOG);
  await see('Invitation link');
  const link = String(await evaluate('document.querySelector(".secret code").textContent'));
  await press('I have copied it');
  await signOut();
  await tool.open(link);
  await see('You were invited to a group.');
  await press('Create an account');
  await fill('Email', 'second@example.com');
  await fill('Password', 'another password');
  await press('Create the account');
  await see('You join as second@example.com.');
  await press('Join the group');
  await see('Research');
  await open('/console/backends');
  await see('Only admins see this page');
  expect(await evaluate('document.querySelector("nav").innerText')).not.toContain('Backends');
});

async function signOut(): Promise<void> {
  await menu('Sign out');
  await see('Password');
}

/** Chooses something in the menu of the account. */
async function menu(name: string): Promise<void> {
  await act('/click', { target: 'button.account-button' });
  await act('/click', { target: `//*[@role="menuitem"][normalize-space()="${name}"]` });
}

/** Presses Tab until an empty field has the focus. */
async function tabTo(tag: string): Promise<void> {
  const isThere = `document.activeElement.matches('${tag}') && document.activeElement.value === ''`;
  await waitUntil(
    async () => {
      if ((await evaluate(isThere)) === true) return true;
      await act('/press', { key: 'Tab' });
      return false;
    },
    { what: 'a field with the focus' },
  );
}
