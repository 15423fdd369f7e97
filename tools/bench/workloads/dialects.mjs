import { cpuMs } from '../processes.mjs';
import { streamedAnswer } from './chat-body.mjs';
import { comparison, rowOf, sendUntilWarm } from './rounds.mjs';
import { streamValues } from './streams.mjs';

const STREAMS = { connections: 200, tokens: 50, intervalMs: 20, rampMs: 1000, timeoutMs: 20_000 };
const WARM_CONNECTIONS = 64;
const WARM_ROUNDS = 3;
const TRANSLATED_MAX = 1.6;

const chat = { path: '/v1/chat/completions', end: '[DONE]', bodyOf: (body) => body };
const responses = {
  path: '/v1/responses',
  end: 'response.completed',
  bodyOf: ({ messages, ...body }) => ({ ...body, store: false, input: messages }),
};
const messages = {
  path: '/v1/messages',
  end: 'message_stop',
  bodyOf: (body) => ({ ...body, max_tokens: 1000 }),
};

/** Each API of clients and of upstreams has the same streams. What ends a stream is in its last event. */
const APIS = [
  { name: 'chat', label: 'chat completions, relayed', ...chat },
  { name: 'responses', label: 'Responses, translated', ...responses },
  { name: 'messages', label: 'Messages, translated', ...messages },
  { name: 'anthropic', label: 'chat completions of `anthropic`', prefix: 'anthropic-', ...chat },
  {
    name: 'passed messages',
    label: 'Messages of `anthropic`, passed',
    prefix: 'anthropic-',
    ...messages,
  },
  { name: 'gemini', label: 'chat completions of `gemini`', prefix: 'gemini-', ...chat },
  {
    name: 'messages of gemini',
    label: 'Messages of `gemini`, translated twice',
    prefix: 'gemini-',
    ...messages,
  },
  {
    name: 'passed responses',
    label: 'Responses of such a backend, passed',
    prefix: 'responses-',
    ...responses,
  },
];

/** What a token costs in a stream that is translated for its client or from its upstream, against one that is relayed. */
export const dialects = {
  name: 'dialects',
  title: `${STREAMS.connections} streams of one process in each API, ${STREAMS.tokens} tokens ${STREAMS.intervalMs} ms apart`,
  columns: [
    { key: 'firstMs', label: 'first token p50 ms', digits: 2 },
    { key: 'cpuUsPerToken', label: 'CPU µs per token', digits: 1 },
    { key: 'failed', label: 'failed', digits: 0 },
  ],
  async run(run) {
    const child = await run.service.startApp('gateway', {
      on: run.cores?.measured,
      workload: 'dialects',
    });
    try {
      const rows = await measure(run, child);
      const goals = APIS.slice(1).map(({ name }) =>
        comparison({
          rows,
          what: `CPU per token of ${name} against relayed chat completions`,
          atMost: TRANSLATED_MAX,
          of: name,
          to: 'chat',
          key: 'cpuUsPerToken',
        }),
      );
      return { rows, goals };
    } finally {
      await child.stop();
    }
  },
};

/** All APIs take turns in one process, so that they have the same machine, the same heap and the same recorder. */
async function measure(run, child) {
  const { rounds, warmupMs } = run.options.size;
  const samples = new Map(APIS.map(({ name }) => [name, []]));
  for (const api of APIS) await warmUp(run, child, api, warmupMs);
  for (let round = 1; round <= WARM_ROUNDS + rounds; round += 1) {
    run.progress(`dialects: round ${round} of ${WARM_ROUNDS + rounds}`);
    for (const api of APIS) {
      const sample = await streamed(run, child, api);
      if (round > WARM_ROUNDS) samples.get(api.name).push(sample);
    }
  }
  return APIS.map(({ name, label }) =>
    rowOf({ name, label, samples: samples.get(name) }, streamValues),
  );
}

function requestOf({ service }, { path, bodyOf, prefix = '' }, tokens, intervalMs) {
  const body = streamedAnswer(tokens, intervalMs);
  return {
    path,
    headers: { authorization: `Bearer ${service.key}` },
    body: bodyOf({ ...body, model: `${prefix}${body.model}` }),
  };
}

function warmUp(run, { port }, api, warmupMs) {
  const request = requestOf(run, api, 10, 0);
  const cores = run.cores?.load;
  return sendUntilWarm(
    (durationMs) =>
      run.load.requests({
        ports: [port],
        request,
        cores,
        connections: WARM_CONNECTIONS,
        durationMs,
      }),
    warmupMs,
  );
}

async function streamed(run, { port, pid }, api) {
  const request = requestOf(run, api, STREAMS.tokens, STREAMS.intervalMs);
  const before = cpuMs(pid);
  const target = { ports: [port], request, cores: run.cores?.load, end: api.end };
  const sample = await run.load.streams({ ...target, ...STREAMS });
  return { ...sample, cpuMs: cpuMs(pid) - before };
}
