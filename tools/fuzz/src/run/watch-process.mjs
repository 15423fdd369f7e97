// Asks the service and an idle process side by side, in a process that does nothing else: a busy one would notice answers late.
// `begin URL` starts, `end` answers with by how many milliseconds the service was later than the idle process, at most.
import { request } from 'node:http';
import { createInterface } from 'node:readline';

const PAUSE_MS = 50;
const [idlePort] = process.argv.slice(2);
const idleUrl = `http://127.0.0.1:${idlePort}/`;
let latest = 0;
let asking;
let timer;

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line === 'end') void end();
    else begin(line.slice('begin '.length));
  })
  // It ends with its parent.
  .on('close', () => process.exit(0));

function begin(healthUrl) {
  latest = 0;
  timer = setInterval(() => {
    asking ??= ask(healthUrl).finally(() => (asking = undefined));
  }, PAUSE_MS);
}

async function end() {
  clearInterval(timer);
  await asking;
  process.stdout.write(`${latest}\n`);
}

async function ask(healthUrl) {
  const [service, idle] = await Promise.all([answerTime(healthUrl), answerTime(idleUrl)]);
  if (service !== undefined && idle !== undefined) latest = Math.max(latest, service - idle);
}

/** Undefined when no server listens. */
function answerTime(url) {
  const askedAt = performance.now();
  return new Promise((resolve) => {
    const asked = request(url, (response) => {
      response.resume();
      response.on('end', () => resolve(performance.now() - askedAt));
      response.on('error', () => resolve(undefined));
    });
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
}
