// `pnpm bench:recording`: measures what it costs to write usage events down, from the journal to the database.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseOptions } from './options.mjs';
import { cpuMs, createProcesses, familyOf, importBuild } from './processes.mjs';
import { addPeople, eventsOf, PEOPLE_MAX } from './recording/events.mjs';
import { describeMachine, print, report } from './report.mjs';
import { runCommandLine, withScratch } from './run.mjs';
import { startStores } from './service.mjs';
import { medianOf } from './workloads/rounds.mjs';

const USAGE = `pnpm bench:recording [options]

  --events COUNT   how many events are recorded in each round; else 30000
  --rounds COUNT   else 3
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the table into FILE, between its marks
  --recorders      also measure how many events two recorders write down in a second, against one
  --profile        write a CPU profile of the recorder below bench/profiles/recording
  --no-build       measure the build that is there, even if sources are newer
  --help           this
`;

const CPU_US_MAX = 35;
const PREFIX = 'bench-recording:';
const WARM_EVENTS = 20_000;
const APPENDED_AT_ONCE = 2000;
const POLL_MS = 50;
const US_PER_MS = 1000;
const MS_PER_SECOND = 1000;
const WORKER = fileURLToPath(new URL('../apps/video-worker/dist/main.js', import.meta.url));
const PROFILES = fileURLToPath(new URL('profiles/recording', import.meta.url));

/** How many users send the events; each has one key. */
const CROWDS = [
  { name: 'one', label: 'one user with one key', people: 1 },
  { name: 'hundred', label: '100 users, each with a key', people: 100 },
  { name: 'thousand', label: '1,000 users, each with a key', people: PEOPLE_MAX },
];

async function measure(options, { folder, opened }) {
  const { silentLog: log } = await importBuild('kernel');
  const { migrateDatabase } = await importBuild('db');
  const { createBus } = await importBuild('bus');
  const machine = await describeMachine({ node: process.execPath });
  print(machine);
  const stores = await startStores({ folder, options: {} });
  opened.push(() => stores.stop());
  await migrateDatabase({ databaseUrl: stores.databaseUrl, log });
  await addPeople(stores.databaseUrl);
  const bus = createBus({ redisUrl: stores.redisUrl, dataDir: folder, prefix: PREFIX, log });
  await bus.start();
  opened.push(() => bus.close());
  const processes = await createProcesses();
  opened.push(() => processes.stopAll());
  const start = () => startRecorder({ processes, options, folder, stores });
  const recorder = await start();
  const scene = { journal: bus.journal, recorder, databasePid: stores.databasePid };
  for (const { people } of CROWDS) await recordAll(scene, people, WARM_EVENTS);
  const rounds = new Map(CROWDS.map(({ name }) => [name, []]));
  for (let round = 0; round < options.rounds; round += 1)
    for (const { name, people } of CROWDS)
      rounds.get(name).push(await recordAll(scene, people, options.events));
  await reportRounds(options, machine, rounds);
  if (options.recorders) await compareRecorders({ options, machine, scene, start });
}

/** The process that records in a deployment. */
function startRecorder({ processes, options, folder, stores }) {
  return processes.start({
    name: 'video-worker',
    outputFile: join(folder, 'video-worker.log'),
    command: () => [
      process.execPath,
      ...(options.profile ? ['--cpu-prof', `--cpu-prof-dir=${PROFILES}`] : []),
      WORKER,
    ],
    environment: (port) => ({
      NODE_ENV: 'production',
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      SERVICE_REDIS_PREFIX: PREFIX,
      SERVICE_DATA_DIR: folder,
      SERVICE_JWT_SECRET: 'x'.repeat(64),
      SERVICE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
      SERVICE_DEMO: 'false',
      SERVICE_PORT: String(port),
    }),
  });
}

/** Appends events, waits until all are recorded, and returns the CPU time of one in microseconds. */
async function recordAll({ journal, recorder, databasePid }, people, count) {
  const databasePids = familyOf(databasePid);
  const spent = () => ({
    recorder: cpuMs(recorder.pid),
    database: databasePids.reduce((sum, pid) => sum + (cpuMs(pid) ?? 0), 0),
  });
  const before = spent();
  await appendEvents(journal, people, count);
  await untilRecorded(journal);
  const after = spent();
  const usOf = (what) => ((after[what] - before[what]) * US_PER_MS) / count;
  const [recorderUs, databaseUs] = [usOf('recorder'), usOf('database')];
  return { recorderUs, databaseUs, togetherUs: recorderUs + databaseUs };
}

async function appendEvents(journal, people, count) {
  let step = [];
  for (const event of eventsOf(people, count)) {
    step.push({ id: event.id, body: JSON.stringify(event) });
    if (step.length < APPENDED_AT_ONCE) continue;
    await Promise.all(step.map((entry) => journal.append(entry)));
    step = [];
  }
  await Promise.all(step.map((entry) => journal.append(entry)));
}

async function untilRecorded(journal) {
  while ((await journal.lag()) > 0) await sleep(POLL_MS);
}

/** How fast a full journal is written down by one recorder, and by two. */
async function compareRecorders({ options, machine, scene: { journal, recorder }, start }) {
  const people = PEOPLE_MAX;
  const perSecond = async (recorders) => {
    const all = (signal) => recorders.forEach(({ pid }) => process.kill(pid, signal));
    const samples = [];
    for (let round = 0; round < options.rounds; round += 1) {
      all('SIGSTOP');
      await appendEvents(journal, people, options.events);
      const startedAt = performance.now();
      all('SIGCONT');
      await untilRecorded(journal);
      samples.push((options.events * MS_PER_SECOND) / (performance.now() - startedAt));
    }
    return medianOf(samples, (sample) => sample);
  };
  const one = await perSecond([recorder]);
  const second = await start();
  await appendEvents(journal, people, WARM_EVENTS);
  await untilRecorded(journal);
  const two = await perSecond([recorder, second]);
  const rows = [
    { name: 'one', label: 'one recorder', perSecond: one },
    { name: 'two', label: 'two recorders', perSecond: two, versusOne: two / one },
  ];
  const goal = { what: 'two recorders against one', atLeast: 1.6, unit: '×', measured: two / one };
  await report({ ...options, json: undefined }, machine, RECORDERS, { rows, goals: [goal] });
}

const RECORDERS = {
  name: 'recorders',
  title: 'events of 1,000 users in a full journal, everything on the same cores',
  columns: [
    { key: 'perSecond', label: 'events/s', digits: 0 },
    { key: 'versusOne', label: '× one', digits: 2 },
  ],
};

async function reportRounds(options, machine, rounds) {
  const rows = CROWDS.map(({ name, label }) => ({
    name,
    label,
    recorderUs: medianOf(rounds.get(name), ({ recorderUs }) => recorderUs),
    databaseUs: medianOf(rounds.get(name), ({ databaseUs }) => databaseUs),
    togetherUs: medianOf(rounds.get(name), ({ togetherUs }) => togetherUs),
  }));
  const goals = [
    {
      what: 'recorder and Postgres together for one event, one user',
      atMost: CPU_US_MAX,
      unit: 'µs of CPU',
      measured: rows[0].togetherUs,
    },
  ];
  await report(options, machine, WORKLOAD, { rows, goals });
}

const WORKLOAD = {
  name: 'recording',
  title: 'recording a usage event, under load',
  columns: [
    { key: 'recorderUs', label: 'CPU µs of the recorder', digits: 1 },
    { key: 'databaseUs', label: 'CPU µs of Postgres', digits: 1 },
    { key: 'togetherUs', label: 'together', digits: 1 },
  ],
};

function readOptions(args) {
  const values = parseOptions(args, {
    events: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '3' },
    recorders: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
  });
  const events = Number(values.events);
  const rounds = Number(values.rounds);
  if (!(Number.isInteger(events) && events > 0 && Number.isInteger(rounds) && rounds > 0))
    throw new Error(USAGE);
  return { ...values, events, rounds };
}

await runCommandLine({
  usage: USAGE,
  readOptions,
  main: (options) => withScratch((scratch) => measure(options, scratch)),
});
