// A small engine for tests: a real process that serves the chat protocol. Its responses depend only on the messages,
// so that two paths to it can be compared byte for byte.
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    port: { type: 'string' },
    host: { type: 'string', default: '127.0.0.1' },
    // How long it loads; it prints several steps.
    'load-ms': { type: 'string', default: '0' },
    // Exits while it loads.
    broken: { type: 'boolean', default: false },
    // Ignores SIGTERM.
    stubborn: { type: 'boolean', default: false },
    // How often `/health` answers 503 first, while the models are listed already.
    'health-failures': { type: 'string', default: '0' },
    // Starts a child process.
    'with-child': { type: 'boolean', default: false },
  },
});

if (values.stubborn) process.on('SIGTERM', () => undefined);
const child = values['with-child'] ? spawn('sleep', ['600'], { stdio: 'ignore' }) : undefined;

const LOAD_STEPS = 4;
for (let step = 1; step <= LOAD_STEPS; step += 1) {
  process.stderr.write(`pulling ${values.model}: ${(step * 100) / LOAD_STEPS}% 1.0 GB/4.0 GB\r`);
  await sleep(Number(values['load-ms']) / LOAD_STEPS);
  if (values.broken && step === 2) {
    process.stderr.write('\nout of memory\n');
    process.exit(3);
  }
}

let healthFailuresLeft = Number(values['health-failures']);
const server = createServer((request, response) => {
  handle(request, response).catch(() => response.destroy());
});
server.listen(Number(values.port), values.host);

async function handle(request, response) {
  if (request.url === '/v1/models') {
    return send(response, { object: 'list', data: [{ id: values.model, object: 'model' }] });
  }
  if (request.url === '/health') {
    healthFailuresLeft -= 1;
    if (healthFailuresLeft >= 0) return response.writeHead(503).end();
    return send(response, { status: 'ok' });
  }
  if (request.url === '/pids') return send(response, [process.pid, child?.pid]);
  if (request.url === '/crash') process.exit(9);
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (request.url === '/v1/embeddings') {
    const data = [body.input].flat().map((_, index) => ({ index, embedding: [0.5, index] }));
    return send(response, { object: 'list', model: body.model, data, usage: usageOf(1) });
  }
  if (request.url !== '/v1/chat/completions') return response.writeHead(404).end();
  if (body.stream === true) return stream(response, body);
  return send(response, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: body.model,
    choices: [
      { index: 0, message: { role: 'assistant', content: replyOf(body) }, finish_reason: 'stop' },
    ],
    usage: usageOf(3),
  });
}

// `max_tokens` chunks of `chunk_bytes` characters, `delay_ms` apart.
async function stream(response, body) {
  const seed = JSON.stringify(body.messages);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const count = body.max_tokens ?? 3;
  for (let index = 0; index < count; index += 1) {
    const hash = createHash('sha256').update(`${seed}${index}`).digest('hex');
    const content = hash.repeat(Math.ceil((body.chunk_bytes ?? 8) / hash.length));
    const hasSpace = response.write(event({ delta: { content }, finish_reason: null }, body.model));
    if (!hasSpace) await new Promise((resolve) => response.once('drain', resolve));
    if (body.delay_ms > 0) await sleep(body.delay_ms);
    if (response.destroyed) return;
  }
  response.write(event({ delta: {}, finish_reason: 'stop' }, body.model, usageOf(count)));
  response.end('data: [DONE]\n\n');
}

const replyOf = ({ messages }) => `you said: ${messages?.at(-1)?.content ?? ''}`;
const usageOf = (tokens) => ({
  prompt_tokens: 1,
  completion_tokens: tokens,
  total_tokens: tokens + 1,
});
const event = (choice, model, usage) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, ...choice }], ...(usage && { usage }) })}\n\n`;

function send(response, body) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
