import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCommandLine, type CommandLine } from './command-line.ts';

/** A window title, red text, the same with one-byte controls, a reversed reading direction, an invisible tag. */
const ATTACK =
  'a\u001b]0;OWNED\u0007\u001b[31m\u009b31m\u202eb\u2066\ud83c\udff3\udb40\udc67\ncountry';
const UNSAFE = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}]/u;
const KEY = 'service-0f8fad5b-d9cb-469f-a165-70867728950e';
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

type Json = Readonly<Record<string, unknown>>;

/** The answers of the service by RPC method or REST path. */
let answers: Json = {};
let status = 200;
let server: Server;
let home = '';
let gateway: CommandLine;

beforeAll(async () => {
  server = createServer((request, response) => {
    void answerOf(request).then((body) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  home = await mkdtemp(join(tmpdir(), 'cli-hostile-'));
  const folder = join(home, '.config', 'model-gateway');
  await mkdir(folder, { recursive: true });
  const sign_in = {
    email: 'e',
    access_token: 't',
    expires_at: Date.now() + 3_600_000,
    refresh_token: 'r',
  };
  const services = { [url]: { sign_in, admin_token: 'admin' } };
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ current: url, services }));
  gateway = createCommandLine({ HOME: home });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  await rm(home, { recursive: true });
});
afterEach(() => {
  status = 200;
});

async function answerOf(request: IncomingMessage): Promise<unknown> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
  const path = request.url?.split('?')[0] ?? '';
  if (path !== '/api/rpc') return answers[path];
  const { id, method } = JSON.parse(body) as { readonly id: number; readonly method: string };
  const answer = answers[method];
  return answer instanceof Error
    ? { jsonrpc: '2.0', id, error: { code: -32_000, message: answer.message } }
    : { jsonrpc: '2.0', id, result: answer };
}

const keyOf = (secret: string) => ({
  id: ATTACK,
  key: secret,
  name: ATTACK,
  key_hint: ATTACK,
  key_prefix: ATTACK,
  project: ATTACK,
  created_at: ATTACK,
  last_used_at: ATTACK,
  expires_at: null,
  revoked_at: null,
  active: true,
});
const webhook = {
  id: ATTACK,
  secret: KEY,
  url: ATTACK,
  events: [ATTACK],
  format: ATTACK,
  group_id: ATTACK,
};
const user = {
  id: ATTACK,
  email: ATTACK,
  name: ATTACK,
  tier: ATTACK,
  is_admin: true,
  active: true,
  active_keys: ATTACK,
  created_at: ATTACK,
  last_sign_in_at: null,
  erased_at: null,
};
const chain = {
  ok: false,
  checked: 1,
  after: ATTACK,
  hash: ATTACK,
  has_more: false,
  broken: { seq: ATTACK, reason: ATTACK },
};
const backend = {
  name: ATTACK,
  type: ATTACK,
  state: ATTACK,
  circuit: ATTACK,
  models: [],
  reason: ATTACK,
};
const backends = { '/api/admin/backends': { backends: { health: [backend] } } };

const commands: readonly { readonly line: string; readonly answers: Json }[] = [
  { line: 'keys list', answers: { 'keys.list': [keyOf(KEY)] } },
  { line: 'keys list', answers: { 'keys.list': new Error(ATTACK) } },
  { line: 'webhooks create https://x.test key.budget', answers: { 'webhooks.create': webhook } },
  { line: 'webhooks list', answers: { 'webhooks.list': { webhooks: [webhook] } } },
  { line: 'webhooks test id', answers: { 'webhooks.test': { event_id: ATTACK } } },
  { line: 'audit verify', answers: { 'audit.verify': chain } },
  { line: `users show ${ID}`, answers: { 'users.get': user } },
  { line: 'requests', answers: { 'requests.list': { requests: [], next_cursor: ATTACK } } },
  { line: 'backends list', answers: backends },
  { line: 'models', answers: { '/v1/models': { data: [{ id: ATTACK, owned_by: ATTACK }] } } },
  { line: 'doctor', answers: backends },
];

test.each(commands)('gateway $line prints no unsafe character', async (command) => {
  ({ answers } = command);
  for (const options of [[], ['--json']]) {
    const { stdout, stderr } = await gateway.runHere([...command.line.split(' '), ...options]);
    expect(stdout + stderr).toContain('a');
    expect(stdout).not.toMatch(UNSAFE);
    expect(stderr).not.toMatch(UNSAFE);
  }
});

test('JSON has the exact text', async () => {
  answers = { 'audit.verify': chain };
  const { stdout } = await gateway.runHere(['audit', 'verify', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ after: ATTACK, broken: { reason: ATTACK } });
});

test('the message of an error status has no unsafe character', async () => {
  answers = { '/api/admin/backends': { error: { code: ATTACK, message: ATTACK } } };
  status = 500;
  for (const options of [[], ['--json']]) {
    const { stderr } = await gateway.runHere(['backends', 'list', ...options]);
    expect(stderr).toContain('OWNED');
    expect(stderr).not.toMatch(UNSAFE);
  }
});

test.each(['create', 'rotate'])('keys %s refuses a key that is not plain ASCII', async (verb) => {
  for (const secret of [`sk${ATTACK}`, 'sk two', 'sk\n', '', 'schlüssel']) {
    const key = { ...keyOf(secret), name: 'n' };
    answers = { 'keys.list': [key], 'keys.create': key, 'keys.rotate': key };
    for (const options of [[], ['--json']]) {
      const printed = await gateway.runHere(['keys', verb, 'n', ...options]);
      expect(printed).toMatchObject({ status: 1, stdout: '' });
      expect(printed.stderr).toContain('a key with characters other than printable ASCII');
    }
  }
});

test('a usable key is printed as it is', async () => {
  answers = { 'keys.create': keyOf(KEY) };
  const created = await gateway.runHere(['keys', 'create', 'n']);
  expect(created).toMatchObject({ status: 0, stdout: `${KEY}\n` });
});
