// `pnpm bench:agents`: measures the cost of many GPU nodes' heartbeats in one process of the agent tunnel.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chooseCores } from './cores.mjs';
import { parseOptions, readAscending } from './options.mjs';
import { cpuMs, createProcesses, importBuild, rssMb } from './processes.mjs';
import { describeMachine, print, report } from './report.mjs';
import { runCommandLine, withScratch } from './run.mjs';
import { startStores } from './service.mjs';

const { WebSocket } = createRequire(new URL('../apps/agent-tunnel/package.json', import.meta.url))(
  'ws',
);

const USAGE = `pnpm bench:agents [options]

  --agents NUMBERS  how many nodes to measure with, ascending; else 0,200,1000
  --seconds COUNT   how long each is measured; else 60
  --json FILE       also write the measurements as JSON
  --markdown FILE   also write the table into FILE, between its marks
  --no-build        measure the build that is there, even if sources are newer
  --help            this
`;

const GOAL_AGENTS = 200;
const CORE_PERCENT_MAX = 5;
const HEARTBEAT_MS = 10_000;
// A process is slower until its code is compiled.
const WARM_UP_MS = 30_000;
const CONNECT_AT_ONCE = 50;

const WORK = {
  name: 'agents',
  title: 'GPU nodes on one tunnel process, each with 8 GPUs and 4 models, a heartbeat every 10 s',
  columns: [
    { key: 'heartbeats', label: 'heartbeats/s', digits: 1 },
    { key: 'corePercent', label: '% of one core', digits: 2 },
    { key: 'cpuUs', label: 'CPU µs per heartbeat', digits: 0 },
    { key: 'rss', label: 'memory MB', digits: 0 },
  ],
};

async function run(options, scratch) {
  const cores = await chooseCores();
  const machine = await describeMachine({ node: process.execPath }, cores);
  print(machine);
  const service = await startTunnel(scratch, cores);
  const rows = [];
  const nodes = [];
  for (const count of options.agents) {
    await connectNodes(service, nodes, count);
    await sleep(WARM_UP_MS);
    rows.push(await measure(service, nodes, options.seconds));
    print(`measured with ${count} nodes`);
  }
  await report(options, machine, WORK, { rows, goals: goalsOf(rows) });
}

async function startTunnel({ folder, opened }, cores) {
  const { createDatabase, migrateDatabase } = await importBuild('db');
  const { silentLog: log } = await importBuild('kernel');
  const { databaseUrl, redisUrl, stop } = await startStores({ folder, options: {} });
  opened.push(stop);
  await migrateDatabase({ databaseUrl, log });
  const database = createDatabase({ databaseUrl, log });
  opened.push(() => database.close());
  const processes = await createProcesses();
  opened.push(() => processes.stopAll());
  const tunnel = await processes.start({
    name: 'agent-tunnel',
    cores: cores?.measured,
    command: () => [
      process.execPath,
      fileURLToPath(new URL('../apps/agent-tunnel/dist/main.js', import.meta.url)),
    ],
    environment: (port) => ({
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      SERVICE_DATA_DIR: folder,
      SERVICE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      SERVICE_PORT: String(port),
      SERVICE_LOG_LEVEL: 'warn',
    }),
  });
  return { tunnel, database };
}

/** Connects nodes up to this number. */
async function connectNodes(service, nodes, count) {
  while (nodes.length < count) {
    const wanted = Math.min(CONNECT_AT_ONCE, count - nodes.length);
    nodes.push(...(await Promise.all(Array.from({ length: wanted }, () => connectNode(service)))));
  }
}

async function connectNode({ tunnel, database }) {
  const token = randomBytes(32).toString('base64url');
  const tokenHash = createHash('sha256').update(token).digest('hex');
  await database.agents.register({ name: 'node', version: '1', tokenHash });
  const socket = new WebSocket(`ws://127.0.0.1:${tunnel.port}/ws/agent`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  const send = (message) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  send({ id: 1, method: 'Agent.Hello', params: { version: '1', ...stateOf() } });
  await once(socket, 'message');
  const node = { sent: 0, socket };
  const beat = () => {
    node.sent += 1;
    send({ method: 'Agent.Heartbeat', params: stateOf() });
  };
  // Spread over the interval, like nodes that started at different times.
  setTimeout(() => {
    beat();
    setInterval(beat, HEARTBEAT_MS).unref();
  }, Math.random() * HEARTBEAT_MS).unref();
  return node;
}

const stateOf = () => ({
  gpus: Array.from({ length: 8 }, () => ({
    name: 'NVIDIA H100 80GB HBM3',
    memory_total_mb: 81_559,
    memory_used_mb: Math.round(Math.random() * 81_559),
    utilization: Math.round(Math.random() * 100),
  })),
  // Not ready, so that the tunnel does not search for engines that do not exist.
  models: ['a', 'b', 'c', 'd'].map((model_id) => ({ model_id, status: 'loading', port: null })),
});

async function measure({ tunnel }, nodes, seconds) {
  const count = () => nodes.reduce((sum, { sent }) => sum + sent, 0);
  const [sentBefore, cpuBefore, began] = [count(), cpuMs(tunnel.pid), performance.now()];
  await sleep(seconds * 1_000);
  const heartbeats = count() - sentBefore;
  const cpu = cpuMs(tunnel.pid) - cpuBefore;
  const elapsed = performance.now() - began;
  const lost = nodes.filter(({ socket }) => socket.readyState !== WebSocket.OPEN).length;
  if (lost > 0) throw new Error(`${lost} nodes lost their connection`);
  return {
    agents: nodes.length,
    label: `${nodes.length} nodes`,
    heartbeats: (heartbeats * 1_000) / elapsed,
    corePercent: (cpu * 100) / elapsed,
    cpuUs: heartbeats === 0 ? undefined : (cpu * 1_000) / heartbeats,
    rss: rssMb(tunnel.pid),
  };
}

const goalsOf = (rows) => [
  {
    what: `${GOAL_AGENTS} nodes`,
    atMost: CORE_PERCENT_MAX,
    unit: '% of one core',
    measured: rows.find(({ agents }) => agents === GOAL_AGENTS)?.corePercent,
  },
];

function readOptions(args) {
  const values = parseOptions(args, {
    agents: { type: 'string', default: '0,200,1000' },
    seconds: { type: 'string', default: '60' },
  });
  const agents = readAscending(values.agents);
  const seconds = Number(values.seconds);
  if (agents === undefined || !(seconds > 0)) throw new Error(USAGE);
  return { ...values, agents, seconds };
}

await runCommandLine({
  usage: USAGE,
  readOptions,
  main: (options) => withScratch((scratch) => run(options, scratch)),
});
// The nodes are still connected.
process.exit();
