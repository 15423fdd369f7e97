// `pnpm bench:compare OTHER`: CPU time per request of this checkout's gateway against that of another checkout.
import { existsSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCandidate } from './candidates.mjs';
import { resolveFromCaller } from './options.mjs';
import { print } from './report.mjs';
import { runBench, runCommandLine } from './run.mjs';
import { startService } from './service.mjs';
import { HASTY_STREAM, streamedAnswer, WHOLE_ANSWER } from './workloads/chat-body.mjs';
import { inRounds } from './workloads/rounds.mjs';

const USAGE = `pnpm bench:compare OTHER [options]

  OTHER          the folder of another checkout, built; each has stores of its own
  --rounds N     rounds per load, else 20
  --round-ms N   length of a round of chat; else 1000
  --only NAMES   some of: chat,alone,tokens,hit; without it the first three
  --no-build     measure this checkout's build as it is
`;

// New processes after some rounds, because V8 compiles differently in each process.
const ROUNDS_PER_START = 10;
// Warmed up in turns, because V8 drops the code of a process that waits.
const WARM_ROUNDS = 10;
const CONNECTIONS = 64;
const STREAMS = { connections: 200, tokens: 50, intervalMs: 20, rampMs: 500, timeoutMs: 20_000 };

const chat = (connections) => ({
  body: WHOLE_ANSWER,
  warmBody: WHOLE_ANSWER,
  send: ({ load, roundMs }, target) =>
    load.requests({ ...target, connections, durationMs: roundMs }),
});
const LOADS = {
  chat: {
    ...chat(CONNECTIONS),
    title: `whole answers, ${CONNECTIONS} connections, CPU per request`,
  },
  alone: { ...chat(1), title: 'whole answers, one connection, CPU per request' },
  tokens: {
    title: `streams, ${STREAMS.connections} at once, CPU per token`,
    body: streamedAnswer(STREAMS.tokens, STREAMS.intervalMs),
    warmBody: HASTY_STREAM,
    send: ({ load }, target) => load.streams({ ...target, ...STREAMS }),
  },
  hit: {
    ...chat(CONNECTIONS),
    title: `answers of the exact cache, ${CONNECTIONS} connections, CPU per request`,
    key: 'cachedKey',
  },
};
const LOADS_DEFAULT = 'chat,alone,tokens';

function readOptions(args) {
  const { values, positionals } = parseArgs({
    args: args.filter((argument) => argument !== '--'),
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '20' },
      'round-ms': { type: 'string', default: '1000' },
      only: { type: 'string', default: LOADS_DEFAULT },
      'no-build': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return { help: true };
  const other = resolveFromCaller(positionals[0]);
  if (other === undefined || !existsSync(join(other, 'apps/gateway/dist/main.js'))) {
    throw new Error(`OTHER must be a built checkout\n\n${USAGE}`);
  }
  return {
    node: process.execPath,
    build: !values['no-build'],
    rounds: Number(values.rounds),
    roundMs: Number(values['round-ms']),
    loads: values.only.split(','),
    other,
  };
}

async function measure(run) {
  const { other, loads, roundMs } = run.options;
  print(`${run.machine}\nother: ${other}`);
  const services = { ours: run.service, other: await startOther(run, other) };
  try {
    for (const name of loads) {
      const costs = await compare({ ...run, services, roundMs }, name, LOADS[name]);
      print(summary(LOADS[name].title, costs));
    }
  } finally {
    await run.processes.stopAll();
    await services.other.stop();
  }
}

/** The other checkout with stores and a recorder of its own: the two may have different schemas. */
async function startOther(run, checkout) {
  const folder = join(run.folder, 'other');
  await mkdir(folder);
  await chmod(folder, 0o711);
  const upstreamPort = run.upstream.port;
  return startService({ ...run, folder, upstreamPort, checkout, ...serviceOptions(run.options) });
}

/** A recorder of low priority would not catch up on a machine with other work. */
const serviceOptions = ({ loads }) => ({ isRecorderLast: false, isBasic: !loads.includes('hit') });

/** The cost of each round for both: `[{ ours, other }]`, in milliseconds of CPU. */
async function compare(run, workload, { body, warmBody, send, key = 'key' }) {
  const { services } = run;
  const { rounds } = run.options;
  const candidates = {
    start: (names, asked) =>
      Promise.all(names.map((name) => startGateway({ ...run, key }, name, asked))),
  };
  const service = {
    recorded: () => Promise.all(Object.values(services).map((each) => each.recorded())),
    yieldToOthers: () => undefined,
  };
  const costs = [];
  while (costs.length < rounds) {
    let sent = 0;
    const measured = await inRounds({
      run: { ...run, service, candidates },
      names: Object.keys(services),
      workload: `${workload}, ${costs.length} rounds done`,
      body,
      rounds: WARM_ROUNDS + Math.min(ROUNDS_PER_START, rounds - costs.length),
      warmUp: () => undefined,
      measure({ ports, request }) {
        const target = { ports, request, cores: run.cores?.load };
        // The last warm-up round uses the load itself.
        const isWarming = (sent += 1) <= (WARM_ROUNDS - 1) * 2;
        return isWarming
          ? chat(CONNECTIONS).send(run, { ...target, request: { ...request, body: warmBody } })
          : send(run, target);
      },
    });
    const [ours, other] = measured.map(costsOf);
    costs.push(...ours.map((cost, round) => ({ ours: cost, other: other[round] })));
  }
  return costs;
}

function startGateway({ services, cores, key }, name, asked) {
  const service = services[name];
  const headers = { authorization: `Bearer ${service[key]}` };
  const start = async () => [await service.startApp('gateway', { on: cores?.measured })];
  return startCandidate({ name, headers, start }, asked);
}

function costsOf({ name, refusal, samples }) {
  if (refusal !== undefined) throw new Error(`${name} was not measured: ${refusal}`);
  return samples
    .slice(WARM_ROUNDS)
    .map(({ cpuMs, requests, tokens }) => cpuMs / (requests ?? tokens));
}

function summary(title, costs) {
  const ratios = quartiles(costs.map(({ ours, other }) => other / ours));
  const micros = (name) => (quartiles(costs.map((cost) => cost[name])).middle * 1000).toFixed(1);
  const percent = (ratios.middle - 1) * 100;
  const isUndecided = ratios.low <= 1 && ratios.high >= 1;
  return [
    `\n${title}, ${costs.length} rounds`,
    `  ours ${micros('ours')} µs, other ${micros('other')} µs`,
    `  other / ours: median ${ratios.middle.toFixed(3)}, middle half ${ratios.low.toFixed(3)} to ${ratios.high.toFixed(3)}`,
    `  ${isUndecided ? 'undecided: the middle half crosses 1' : `other takes ${Math.abs(percent).toFixed(1)} % ${percent > 0 ? 'more' : 'less'} CPU`}`,
  ].join('\n');
}

function quartiles(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part) => sorted[Math.floor((sorted.length - 1) * part)];
  return { low: at(0.25), middle: at(0.5), high: at(0.75) };
}

await runCommandLine({
  usage: USAGE,
  readOptions,
  main: (options) => runBench({ options, prepare: () => serviceOptions(options) }, measure),
});
