// `pnpm bench:engine`: the latency that `engine.invoke` adds to direct calls of an engine in a control loop.
import { fileURLToPath } from 'node:url';
import { startChatLoad } from './engine/chat-load.mjs';
import { connect, runLoop } from './engine/control-loop.mjs';
import { parseOptions } from './options.mjs';
import { print, report } from './report.mjs';
import { runBench, runCommandLine } from './run.mjs';
import { quantile } from './workloads/rounds.mjs';

const USAGE = `pnpm bench:engine [options]

  --quick          10 seconds instead of 60: to see that everything runs, not to quote
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the table into FILE, between its marks
  --node PATH      the Node that runs the service; else the one that runs this
  --database URL   a scratch database to use instead of the embedded Postgres; it is written to
  --redis URL      a scratch Redis to use instead of an embedded one
  --no-build       measure the build that is there, even if sources are newer
  --help           this
`;

const HERTZ = 30;
const STREAMS = 50;
const STREAMED_MODEL = 'bench-100-100';
const ENGINE_MODEL = 'bench-engine';
const FULL = { durationMs: 60_000, rampMs: 10_000 };
const QUICK = { durationMs: 10_000, rampMs: 3_000 };
const WARMUP_MS = 5_000;
const WARMUP_HERTZ = 300;
/** One iteration of the loop: the maximum latency of a useful response. */
const PERIOD_MS = 1000 / HERTZ;

async function measure(run) {
  const { options, cores, machine, service, signal, engineUrl } = run;
  print(machine);
  const rpc = await service.startApp('rpc', { on: cores?.measured });
  const token = service.accessToken;
  const direct = await directly(engineUrl);
  const through = await throughTheService(rpc.port, token);
  const warm = { hertz: WARMUP_HERTZ, durationMs: WARMUP_MS, signal };
  await Promise.all([direct, through].map(({ call }) => runLoop({ ...warm, call })));
  const loops = async () => {
    const pace = { hertz: HERTZ, durationMs: options.durationMs, signal };
    // Half an iteration apart, so that the two do not overlap.
    const first = runLoop({ ...pace, call: direct.call });
    await new Promise((done) => setTimeout(done, PERIOD_MS / 2));
    const second = runLoop({ ...pace, call: through.call });
    return Promise.all([first, second]);
  };

  const alone = await loops();
  const chats = await startChatLoad({
    url: `http://127.0.0.1:${rpc.port}`,
    token,
    model: STREAMED_MODEL,
    streams: STREAMS,
    rampMs: options.rampMs,
  });
  const beside = await loops();
  const load = await chats.stop();
  print(
    `\n${STREAMS} chat streams meanwhile: ${load.tokens} tokens in ${load.turns} whole turns, ${load.failed} failed`,
  );
  await report(options, machine, WORK, resultOf({ alone, beside, load }));
}

async function startEngine({ options, cores, processes }) {
  const { port } = await processes.start({
    name: 'engine',
    command: (enginePort) => [options.node, ENGINE_SERVER, String(enginePort)],
    cores: cores?.load,
  });
  return `ws://127.0.0.1:${port}`;
}

const ENGINE_SERVER = fileURLToPath(new URL('engine/engine-server.mjs', import.meta.url));

async function directly(url) {
  const { call, close } = await connect(url);
  await call('Engine.Handshake', { protocol: 1, client: { name: 'bench', version: '1' } });
  return { close, call: (tick) => call('Engine.Invoke', invocation(tick)) };
}

async function throughTheService(port, token) {
  const { call, close } = await connect(`ws://127.0.0.1:${port}/api/rpc?token=${token}`);
  return { close, call: (tick) => call('engine.invoke', invocation(tick)) };
}

/** The readings of a robot: a few dozen numbers. */
const invocation = (tick) => ({
  model: ENGINE_MODEL,
  method: 'sensor.ingest',
  params: { tick, readings: Array.from({ length: 32 }, (_, joint) => Math.sin(tick + joint)) },
});

function resultOf({ alone, beside, load }) {
  const rows = [
    ...pairOf('alone', alone, 'with nothing else'),
    ...pairOf('beside', beside, `beside ${STREAMS} chat streams`),
  ];
  const last = rows.at(-1);
  const failed = rows.reduce((sum, row) => sum + row.failed, load.failed);
  return {
    rows,
    goals: [
      {
        what: `added p99 beside ${STREAMS} chat streams, one turn of the loop`,
        atMost: Math.floor(PERIOD_MS),
        unit: 'ms',
        measured: last.addedP99Ms,
      },
      { what: 'failed calls and turns', atMost: 0, unit: '', measured: failed },
    ],
  };
}

function pairOf(name, [direct, through], when) {
  const plain = quantilesOf(direct);
  const ours = quantilesOf(through);
  return [
    { name: `direct-${name}`, label: `engine directly, ${when}`, ...plain },
    {
      name: `invoke-${name}`,
      label: `engine.invoke, ${when}`,
      ...ours,
      addedP50Ms: ours.p50Ms - plain.p50Ms,
      addedP99Ms: ours.p99Ms - plain.p99Ms,
    },
  ];
}

const quantilesOf = ({ times, failed }) => ({
  calls: times.length + failed,
  p50Ms: quantile(times, 0.5),
  p99Ms: quantile(times, 0.99),
  failed,
});

const WORK = {
  name: 'engine',
  title: `calls to an engine, ${HERTZ} a second over one WebSocket`,
  columns: [
    { key: 'calls', label: 'calls', digits: 0 },
    { key: 'p50Ms', label: 'p50 ms', digits: 2 },
    { key: 'p99Ms', label: 'p99 ms', digits: 2 },
    { key: 'addedP50Ms', label: 'added p50 ms', digits: 2 },
    { key: 'addedP99Ms', label: 'added p99 ms', digits: 2 },
    { key: 'failed', label: 'failed', digits: 0 },
  ],
};

function readOptions(args) {
  const values = parseOptions(args, {
    quick: { type: 'boolean', default: false },
    node: { type: 'string', default: process.execPath },
    database: { type: 'string' },
    redis: { type: 'string' },
  });
  return { ...values, ...(values.quick ? QUICK : FULL) };
}

async function main(options) {
  let engineUrl;
  const prepare = async (context) => {
    engineUrl = await startEngine(context);
    return { backends: [{ type: 'engine', name: 'engine', url: engineUrl }] };
  };
  await runBench({ options, prepare }, (run) => measure({ ...run, engineUrl }));
}

await runCommandLine({ usage: USAGE, readOptions, main });
