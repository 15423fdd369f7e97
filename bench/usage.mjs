// `pnpm bench:usage`: measures the usage queries with few and with many rows, and compares them.
import { createRequire } from 'node:module';
import { parseOptions, readAscending } from './options.mjs';
import { importBuild } from './processes.mjs';
import { describeMachine, print, report } from './report.mjs';
import { runCommandLine, withScratch } from './run.mjs';
import { seed } from './usage/seed.mjs';
import { SHAPES } from './usage/shapes.mjs';
import { medianOf, quantile } from './workloads/rounds.mjs';

const { Client } = createRequire(new URL('../packages/db/package.json', import.meta.url))('pg');

const USAGE = `pnpm bench:usage [options]

  --rows NUMBERS   the numbers of rows to measure at, ascending; else 50000,5000000
  --samples COUNT  how often each query runs in each of 5 rounds; else 60
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the table into FILE, between its marks
  --database URL   a server to make the scratch databases in, instead of the embedded Postgres
  --no-build       measure the build that is there, even if sources are newer
  --help           this
`;

const SLOWER_MAX = 3;
const WARM_SAMPLES = 20;
const ROUNDS = 5;
// The rows are temporary, so nothing has to survive a crash.
const STORE_SETTINGS = { fsync: 'off', synchronous_commit: 'off', max_wal_size: '8GB' };

async function measure(options, { folder, opened }) {
  const { silentLog: log } = await importBuild('kernel');
  const { createDatabase, migrateDatabase } = await importBuild('db');
  const serverUrl = options.database ?? (await startStore(folder, opened, log));
  const machine = await describeMachine({ node: process.execPath });
  print(machine);
  const sizes = [];
  for (const rows of options.rows) {
    const databaseUrl = await createScratch(serverUrl, `bench_usage_${rows}`, opened);
    await migrateDatabase({ databaseUrl, log });
    const scene = await withClient(databaseUrl, (client) => seed(client, rows, print));
    const database = createDatabase({ databaseUrl, log });
    opened.push(() => database.close());
    for await (const _day of database.spendSums.check({ repairs: true }));
    await withClient(databaseUrl, (client) => client.query('VACUUM (ANALYZE)'));
    sizes.push({ rows, database, scene });
    print(`${shown(rows)} rows are there`);
  }
  await compareSizes(options, machine, await measureAll(sizes, options.samples));
}

/** A separate database for each number of rows, so that they can take turns. */
async function createScratch(serverUrl, name, opened) {
  const drop = () =>
    withClient(serverUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  await drop();
  await withClient(serverUrl, (client) => client.query(`CREATE DATABASE ${name}`));
  opened.push(drop);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function withClient(connectionString, work) {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function startStore(folder, opened, log) {
  const { startPostgres } = await importBuild('embedded');
  const store = await startPostgres({ dataDir: folder, log, settings: STORE_SETTINGS });
  opened.push(() => store.stop());
  return store.url;
}

/** Sizes and queries take turns, so that a disturbance affects all of them; the median of the rounds counts. */
async function measureAll(sizes, samples) {
  await measureRound(sizes, WARM_SAMPLES);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(sizes, samples));
  return sizes.map(({ rows }) => ({
    rows,
    shapes: new Map(
      SHAPES.map(({ name }) => [
        name,
        {
          p50Ms: medianOf(rounds, (round) => quantile(round.get(rows).get(name), 0.5)),
          p95Ms: medianOf(rounds, (round) => quantile(round.get(rows).get(name), 0.95)),
        },
      ]),
    ),
  }));
}

async function measureRound(sizes, samples) {
  const times = new Map(
    sizes.map(({ rows }) => [rows, new Map(SHAPES.map(({ name }) => [name, []]))]),
  );
  for (let sample = 0; sample < samples; sample += 1) {
    for (const { name, ask } of SHAPES) {
      for (const { rows, database, scene } of sizes) {
        const began = performance.now();
        await ask(database, scene);
        times
          .get(rows)
          .get(name)
          .push(performance.now() - began);
      }
    }
  }
  return times;
}

async function compareSizes(options, machine, measured) {
  const [small] = measured;
  const large = measured.at(-1);
  const rows = SHAPES.map(({ name }) => {
    const before = small.shapes.get(name);
    const after = large.shapes.get(name);
    return {
      name,
      label: name,
      smallP50Ms: before.p50Ms,
      smallP95Ms: before.p95Ms,
      largeP50Ms: after.p50Ms,
      largeP95Ms: after.p95Ms,
      slower: after.p95Ms / before.p95Ms,
    };
  });
  const workload = workloadOf(small.rows, large.rows);
  const bounded = rows.filter((_row, index) => SHAPES[index].isUnbounded !== true);
  const goals = bounded.map(({ label, slower }) => ({
    what: `p95 of ${label} against that at ${shown(small.rows)} rows`,
    atMost: SLOWER_MAX,
    unit: '×',
    measured: slower,
  }));
  // In the Markdown one line for the goal; the table has the details.
  const worst = goals.toSorted((a, b) => b.measured - a.measured)[0];
  await report(options, machine, workload, { rows, goals, shownGoals: [worst] });
}

const shown = (rows) => rows.toLocaleString('en-US');

const workloadOf = (few, many) => ({
  name: 'usage',
  title: 'queries over usage, one at a time',
  columns: [
    { key: 'smallP50Ms', label: `p50 ms, ${shown(few)} rows`, digits: 1 },
    { key: 'smallP95Ms', label: 'p95 ms', digits: 1 },
    { key: 'largeP50Ms', label: `p50 ms, ${shown(many)} rows`, digits: 1 },
    { key: 'largeP95Ms', label: 'p95 ms', digits: 1 },
    { key: 'slower', label: '× p95', digits: 1 },
  ],
});

function readOptions(args) {
  const values = parseOptions(args, {
    rows: { type: 'string', default: '50000,5000000' },
    samples: { type: 'string', default: '60' },
    database: { type: 'string' },
  });
  const rows = readAscending(values.rows);
  const samples = Number(values.samples);
  if (!(rows?.[0] > 0) || !Number.isInteger(samples) || samples <= 0) throw new Error(USAGE);
  return { ...values, rows, samples };
}

await runCommandLine({
  usage: USAGE,
  readOptions,
  main: (options) => withScratch((scratch) => measure(options, scratch)),
});
