// `pnpm trace:request`: prints the files that run for one streamed request, by package, in the order of the layers.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseOptions } from './options.mjs';
import { fetchAnew, importBuild } from './processes.mjs';
import { print } from './report.mjs';
import { runCommandLine, withScratch } from './run.mjs';
import { startStandalone } from './standalone.mjs';

const USAGE = `pnpm trace:request [options]

Prints the files that run in a gateway for one streamed request with a known key: of chat completions to an \`external\` backend,
and of the Messages API to an \`anthropic\` one. There are no limits, quotas, conversations and memories.

  --json FILE   also write the lists as JSON
  --no-build    use the build that is there, even if sources are newer
  --help        this
`;

const WARM_UP = 30;
/** A file that runs in each of them belongs to the request; others are timers that happened to run. */
const TRACED = 5;
const MAIN = fileURLToPath(new URL('../../apps/gateway/src/main.ts', import.meta.url));
const NOTES = new URL('trace/called-files.mjs', import.meta.url).href;
const LOADER = new URL('trace/load-sources.mjs', import.meta.url).href;

const CASES = [
  {
    name: 'chat',
    title: 'Chat completions to an external backend',
    path: '/v1/chat/completions',
    headers: {},
    body: { model: 'chat', stream: true, messages: [{ role: 'user', content: 'Hi' }] },
  },
  {
    name: 'messages',
    title: 'Messages to an anthropic backend',
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: {
      model: 'messages',
      max_tokens: 9,
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    },
  },
];

async function run(options, scratch) {
  const upstream = await startUpstream();
  scratch.opened.push(() => upstream.close());
  const service = await startStandalone(scratch, secrets());
  for (const [type, name] of [
    ['external', 'chat'],
    ['anthropic', 'messages'],
  ])
    await service.registerBackend({
      type,
      name,
      url: `${upstream.url}/${name}/v1`,
      models: [name],
    });
  const gateway = await startTraced(service.environment);
  scratch.opened.push(() => gateway.stop());
  const traced = [];
  for (const request of CASES) {
    const files = await trace(gateway, service.key, request);
    traced.push({ name: request.name, title: request.title, count: files.length, files });
    printFiles(request.title, files);
  }
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify(traced, null, 2)}\n`);
}

/** Both processes of the service need the same. */
const secrets = () => ({
  SERVICE_JWT_SECRET: randomBytes(48).toString('base64url'),
  SERVICE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  SERVICE_API_RATE_LIMIT_RPM: '100000000',
});

async function trace(gateway, key, { path, headers, body }) {
  const ask = async () => {
    const response = await fetchAnew(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  };
  for (let at = 0; at < WARM_UP; at += 1) await ask();
  const times = new Map();
  for (let at = 0; at < TRACED; at += 1) {
    await gateway.called();
    await ask();
    for (const file of await gateway.called()) times.set(file, (times.get(file) ?? 0) + 1);
  }
  return [...times]
    .flatMap(([file, count]) => (count === TRACED ? [file] : []))
    .toSorted((one, other) => one.localeCompare(other));
}

function printFiles(title, files) {
  const byPackage = Map.groupBy(files, (file) => file.split('/').slice(0, 2).join('/'));
  print(`\n${title}: ${files.length} files\n`);
  for (const [name, own] of byPackage) {
    const short = own.map((file) => file.slice(`${name}/src/`.length, -'.ts'.length));
    print(`${name}: ${own.length}\n  ${short.join(', ')}`);
  }
}

/** A gateway that runs from its sources, beside the service and on its stores. */
async function startTraced(environment) {
  const { freePort } = await importBuild('kernel');
  const port = await freePort();
  const child = fork(MAIN, [], {
    execArgv: ['--no-warnings', '--import', LOADER, '--import', NOTES],
    env: { ...process.env, ...environment, SERVICE_PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const url = `http://127.0.0.1:${port}`;
  await fetchAnew(`${url}/health`);
  return {
    url,
    async called() {
      const answered = once(child, 'message');
      child.send('called');
      const [files] = await answered;
      return files;
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

async function startUpstream() {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => answer(request, response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const chunk = (choice, more = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'chat',
  choices: choice === undefined ? [] : [{ index: 0, delta: {}, finish_reason: null, ...choice }],
  ...more,
});

const CHAT = [
  chunk({ delta: { role: 'assistant', content: '' } }),
  ...['Good', ' morning', '.'].map((content) => chunk({ delta: { content } })),
  chunk({ finish_reason: 'stop' }),
  chunk(undefined, { usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 } }),
];

const MESSAGES = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'messages',
      content: [],
      usage: { input_tokens: 3, output_tokens: 0 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...['Good', ' morning', '.'].map((text) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
];

function answer({ method, url }, response) {
  if (method === 'GET') {
    response.setHeader('content-type', 'application/json');
    const [, id] = url.split('/');
    response.end(JSON.stringify({ object: 'list', data: [{ id }] }));
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  const events = url.endsWith('/messages')
    ? MESSAGES.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    : [...CHAT.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'];
  for (const event of events) response.write(event);
  response.end();
}

await runCommandLine({
  usage: USAGE,
  readOptions: (args) => parseOptions(args, {}),
  main: (options) => withScratch((scratch) => run(options, scratch)),
});
// The connections of the clients are still open.
process.exit();
