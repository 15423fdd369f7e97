// `pnpm bench:far`: the first tokens of streams whose upstream is 20 ms away over TLS, asked directly and through the service, and
// how many connections the upstream sees.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { parseOptions } from './options.mjs';
import { importBuild } from './processes.mjs';
import { describeMachine, print, report } from './report.mjs';
import { runCommandLine, withScratch } from './run.mjs';
import { startStandalone } from './standalone.mjs';

const USAGE = `pnpm bench:far [options]

  --requests COUNT  how many streams are measured in each case; else 100
  --json FILE       also write the measurements as JSON
  --markdown FILE   also write the table into FILE, between its marks
  --no-build        measure the build that is there, even if sources are newer
  --help            this
`;

const MODEL = 'far-chat';
const WARM_UP = 20;
const LATE_END_MS = 5;
const ADDED_P50_MS_MAX = 1;
const ADDED_P99_MS_MAX = 4;
const CASES = [
  { label: 'one after the other', atOnce: 1, endAfterMs: 0 },
  { label: 'one after the other, bodies end late', atOnce: 1, endAfterMs: LATE_END_MS },
  { label: 'ten at a time', atOnce: 10, endAfterMs: 0 },
];

const WORK = {
  name: 'far',
  title: 'First tokens of streams from an upstream that is 20 ms away over TLS',
  columns: [
    { key: 'direct', label: 'direct p50, ms', digits: 1 },
    { key: 'p50', label: 'added p50, ms', digits: 1 },
    { key: 'p99', label: 'added p99, ms', digits: 1 },
    { key: 'connections', label: 'new connections a request', digits: 2 },
  ],
};

async function run(options, scratch) {
  const { makeCertificates } = await importBuild('testkit');
  const { startFarProxy } = await importBuild('testkit', 'upstreams/index.js');
  const machine = await describeMachine({ node: process.execPath });
  print(machine);
  const certificates = await makeCertificates(scratch.folder);
  const upstream = await startUpstream();
  const proxy = await startFarProxy({ target: upstream.url, certificates });
  scratch.opened.push(
    () => upstream.close(),
    () => proxy.close(),
  );
  const service = await startStandalone(scratch, { NODE_EXTRA_CA_CERTS: certificates.caFile });
  await service.registerBackend({ type: 'external', name: 'far', url: proxy.url, models: [MODEL] });
  const direct = clientOf(proxy.url, '', new HttpsAgent({ keepAlive: true, ca: certificates.ca }));
  const through = clientOf(service.url, service.key, new HttpAgent({ keepAlive: true }));
  const rows = [];
  for (const { label, atOnce, endAfterMs } of CASES) {
    upstream.endAfter(endAfterMs);
    await measure(direct, atOnce, WARM_UP);
    await measure(through, atOnce, WARM_UP);
    const count = Number(options.requests);
    const bare = await measure(direct, atOnce, count);
    const before = proxy.workConnections();
    const ours = await measure(through, atOnce, count);
    rows.push({
      label,
      direct: bare.at(0.5),
      p50: ours.at(0.5) - bare.at(0.5),
      p99: ours.at(0.99) - bare.at(0.99),
      connections: (proxy.workConnections() - before) / count,
    });
  }
  const goals = rows.flatMap(({ label, p50, p99 }) => [
    { what: `added p50, ${label}`, atMost: ADDED_P50_MS_MAX, unit: 'ms', measured: p50 },
    { what: `added p99, ${label}`, atMost: ADDED_P99_MS_MAX, unit: 'ms', measured: p99 },
  ]);
  await report(options, machine, WORK, { rows, goals });
}

/** An upstream that answers at once, and may end its bodies late. */
async function startUpstream() {
  let endAfterMs = 0;
  const chunk = (delta, finish) => ({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 0,
    model: MODEL,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(finish === null
      ? {}
      : { usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } }),
  });
  const events = [chunk({ role: 'assistant', content: 'Hi' }, null), chunk({}, 'stop')]
    .map((part) => `data: ${JSON.stringify(part)}\n\n`)
    .join('');
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: [{ id: MODEL, object: 'model' }] }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    response.write(`${events}data: [DONE]\n\n`);
    if (endAfterMs === 0) response.end();
    else setTimeout(() => response.end(), endAfterMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    endAfter: (milliseconds) => (endAfterMs = milliseconds),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Sends one stream; resolves with the time until its first bytes, when it is read. */
function clientOf(url, key, agent) {
  const send = url.startsWith('https') ? httpsRequest : httpRequest;
  const body = JSON.stringify({
    model: MODEL,
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return async () => {
    const startedAt = performance.now();
    const request = send(`${url}/v1/chat/completions`, { method: 'POST', agent, headers });
    request.end(body);
    const [response] = await once(request, 'response');
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`);
    let firstMs;
    for await (const _part of response) firstMs ??= performance.now() - startedAt;
    return firstMs;
  };
}

async function measure(ask, atOnce, count) {
  const times = [];
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      times.push(await ask());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  times.sort((one, other) => one - other);
  return { at: (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))] };
}

await runCommandLine({
  usage: USAGE,
  readOptions: (args) => parseOptions(args, { requests: { type: 'string', default: '100' } }),
  main: (options) => withScratch((scratch) => run(options, scratch)),
});
// The connections of the clients are still open.
process.exit();
