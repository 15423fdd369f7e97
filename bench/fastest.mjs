// `pnpm bench:fastest`: measures the first tokens of a route with `strategy: "fastest"` against the choice by the fewest requests, with
// one slow backend of three.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseOptions } from './options.mjs';
import { describeMachine, print, report } from './report.mjs';
import { runCommandLine, withScratch } from './run.mjs';
import { startStandalone } from './standalone.mjs';

const USAGE = `pnpm bench:fastest [options]

  --requests COUNT  how many requests are measured with each choice; else 600
  --json FILE       also write the measurements as JSON
  --markdown FILE   also write the table into FILE, between its marks
  --no-build        measure the build that is there, even if sources are newer
  --help            this
`;

const MODEL = 'bench';
const ROUTE = 'bench-fastest';
/** The times until the first token of the three upstreams, in milliseconds. */
const FIRST_TOKEN_MS = { first: 20, second: 20, slow: 400 };
const AT_ONCE = 4;
const WARM_UP = 60;
const FASTER_MIN = 2;

const WORK = {
  name: 'fastest',
  title: `First tokens with three backends that need ${Object.values(FIRST_TOKEN_MS).join(', ')} ms, ${AT_ONCE} streams at a time`,
  columns: [
    { key: 'delay', label: 'mean delay of the upstreams, ms', digits: 0 },
    { key: 'mean', label: 'mean ms', digits: 0 },
    { key: 'p50', label: 'p50 ms', digits: 0 },
    { key: 'p90', label: 'p90 ms', digits: 0 },
    { key: 'slow', label: '% to the slow one', digits: 1 },
  ],
};

async function run(options, scratch) {
  const machine = await describeMachine({ node: process.execPath });
  print(machine);
  const service = await startService(scratch);
  const rows = [];
  for (const [name, model] of [
    ['fewest requests', MODEL],
    ['fastest', ROUTE],
  ]) {
    await ask(service, model, WARM_UP);
    rows.push({ label: name, ...(await measure(service, model, Number(options.requests))) });
  }
  const [least, fastest] = rows;
  const goals = [
    {
      // By where the requests went, so that other work on the machine changes nothing.
      what: 'mean delay of the chosen upstreams by fewest requests against fastest',
      atLeast: FASTER_MIN,
      unit: '×',
      measured: least.delay / fastest.delay,
    },
  ];
  await report(options, machine, WORK, { rows, goals });
}

async function startService(scratch) {
  const service = await startStandalone(scratch);
  const upstreams = await Promise.all(Object.entries(FIRST_TOKEN_MS).map(startUpstream));
  scratch.opened.push(() => Promise.all(upstreams.map(({ close }) => close())));
  for (const { name, url } of upstreams)
    await service.registerBackend({ type: 'external', name, url, models: [MODEL] });
  const targets = [{ model: MODEL }];
  await service.rpc('routes.set', { model: ROUTE, targets, strategy: 'fastest' });
  return { ...service, upstreams };
}

/** An upstream whose streams begin after some time. */
async function startUpstream([name, firstTokenMs]) {
  const upstream = { name, requests: 0 };
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: [{ id: MODEL, object: 'model' }] }));
      return;
    }
    upstream.requests += 1;
    request.resume();
    setTimeout(() => {
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
      response.setHeader('content-type', 'text/event-stream');
      for (const part of [chunk({ role: 'assistant', content: 'Hi' }, null), chunk({}, 'stop')]) {
        response.write(`data: ${JSON.stringify(part)}\n\n`);
      }
      response.end('data: [DONE]\n\n');
    }, firstTokenMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(upstream, {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

async function measure(service, model, count) {
  const before = service.upstreams.map(({ requests }) => requests);
  const times = (await ask(service, model, count)).toSorted((one, other) => one - other);
  const at = (part) => times[Math.floor(times.length * part)];
  const asked = Object.fromEntries(
    service.upstreams.map(({ name, requests }, index) => [name, requests - before[index]]),
  );
  const delays = Object.entries(asked).map(([name, requests]) => requests * FIRST_TOKEN_MS[name]);
  return {
    delay: delays.reduce((sum, ms) => sum + ms, 0) / count,
    mean: times.reduce((sum, ms) => sum + ms, 0) / times.length,
    p50: at(0.5),
    p90: at(0.9),
    slow: (100 * asked.slow) / count,
  };
}

/** Sends so many streams, some at a time; returns the times until their first tokens. */
async function ask({ url, key }, model, count) {
  const times = [];
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const startedAt = performance.now();
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
      });
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
      const reader = response.body.getReader();
      await reader.read();
      times.push(performance.now() - startedAt);
      while (!(await reader.read()).done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await sleep(0);
  return times;
}

await runCommandLine({
  usage: USAGE,
  readOptions: (args) => parseOptions(args, { requests: { type: 'string', default: '600' } }),
  main: (options) => withScratch((scratch) => run(options, scratch)),
});
// The connections of the clients are still open.
process.exit();
