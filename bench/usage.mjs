// `pnpm bench:usage`: measures the usage queries with few and with many rows, and compares them.
import { createRequire } from 'node:module';
import { parseOptions, readAscending } from './options.mjs';
import { cpuMs, importBuild } from './processes.mjs';
import { describeMachine, print, report } from './report.mjs';
import { runCommandLine, withScratch } from './run.mjs';
import { sceneOf, seed, simulateDays } from './usage/seed.mjs';
import { SHAPES } from './usage/shapes.mjs';
import { medianOf, quantile } from './workloads/rounds.mjs';

const { Client } = createRequire(new URL('../packages/db/package.json', import.meta.url))('pg');

const USAGE = `pnpm bench:usage [options]

  --rows NUMBERS   the numbers of rows to measure at, ascending; else 50000,5000000. Above 20 million
                   the sums are those of so many rows, and only the rows of two days are there
  --days COUNT     over how many days the rows are spread, at least 30; else 90
  --samples COUNT  how often each query runs in each of 5 rounds; else 60
  --only TEXT      only queries with this text in their name; can be given several times
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the table into FILE, between its marks
  --database URL   a server to make the scratch databases in, instead of the embedded Postgres
  --keep           leave the databases on that server, and use those that an earlier run left
  --no-build       measure the build that is there, even if sources are newer
  --help           this
`;

const SLOWER_MAX = 3;
/** The longest period that a query is about. */
const DAYS_MIN = 30;
const WARM_SAMPLES = 20;
const ROUNDS = 5;
// The rows are temporary, so nothing has to survive a crash. One process for each query, so that its CPU time is that of the query.
const STORE_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  max_wal_size: '8GB',
  max_parallel_workers_per_gather: '0',
};

async function measure(options, { folder, opened }) {
  const { silentLog: log } = await importBuild('kernel');
  const { createDatabase, migrateDatabase } = await importBuild('db');
  const serverUrl = options.database ?? (await startStore(folder, opened, log));
  const machine = await describeMachine({ node: process.execPath });
  print(machine);
  const sizes = [];
  for (const rows of options.rows) {
    const name = `bench_usage_${rows}_in_${options.days}`;
    const databaseUrl = urlOf(serverUrl, name);
    const isThere = options.keep && (await isFilled(serverUrl, name));
    if (!isThere) {
      await createScratch(serverUrl, name);
      if (!options.keep) opened.push(() => dropScratch(serverUrl, name));
    }
    // Also a database from an earlier run: its version may be older.
    await migrateDatabase({ databaseUrl, log });
    if (!isThere) {
      await withClient(databaseUrl, (client) =>
        seed(client, { rows, days: options.days, now: Date.now() }, print),
      );
      await withClient(serverUrl, (client) =>
        client.query(`COMMENT ON DATABASE ${name} IS '${FILLED}'`),
      );
    }
    const scene = await withClient(databaseUrl, sceneOf);
    const database = createDatabase({ databaseUrl, log });
    opened.push(() => database.close());
    if (!isThere) {
      await countDays(database);
      await withClient(databaseUrl, (client) =>
        simulateDays(client, { rows, days: options.days }, print),
      );
    }
    await withClient(databaseUrl, (client) => client.query('VACUUM (ANALYZE)'));
    sizes.push({ rows, databaseUrl, database, scene });
    print(`${shown(rows)} rows are there`);
  }
  await compareSizes(options, machine, await measureAll(sizes, options));
}

async function countDays({ spendSums }) {
  let days = 0;
  for await (const { wrongLines } of spendSums.check({ repairs: true }))
    days += wrongLines > 0 ? 1 : 0;
  print(`the sums of ${days} days were counted`);
}

/** Rows until noon of another day would be in the past. */
const FILLED = `filled on ${new Date().toISOString().slice(0, 10)}`;

async function isFilled(serverUrl, name) {
  const { rows } = await withClient(serverUrl, (client) =>
    client.query(
      `SELECT shobj_description(oid, 'pg_database') AS state FROM pg_database WHERE datname = $1`,
      [name],
    ),
  );
  return rows[0]?.state === FILLED;
}

/** A separate database for each number of rows, so that they can take turns. */
async function createScratch(serverUrl, name) {
  await dropScratch(serverUrl, name);
  await withClient(serverUrl, (client) => client.query(`CREATE DATABASE ${name}`));
}

const dropScratch = (serverUrl, name) =>
  withClient(serverUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));

function urlOf(serverUrl, name) {
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

/**
 * Sizes and queries take turns, so that a disturbance affects all of them; the median of the rounds counts. Besides the time, the
 * CPU time of Postgres is measured, which other work on the machine hardly changes.
 */
async function measureAll(sizes, { shapes, samples }) {
  await measureRound(sizes, shapes, Math.min(WARM_SAMPLES, samples));
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push(await measureRound(sizes, shapes, samples));
    print(`round ${round + 1} of ${ROUNDS}`);
  }
  const over = (rows, name, what, share) =>
    medianOf(rounds, (round) => quantile(round.get(rows).get(name)[what], share));
  return sizes.map(({ rows }) => ({
    rows,
    shapes: new Map(
      shapes.map(({ name }) => [
        name,
        {
          p95Ms: over(rows, name, 'times', 0.95),
          cpuP50Ms: over(rows, name, 'cpu', 0.5),
          cpuP95Ms: over(rows, name, 'cpu', 0.95),
        },
      ]),
    ),
  }));
}

async function measureRound(sizes, shapes, samples) {
  const measured = new Map(
    sizes.map(({ rows }) => [
      rows,
      new Map(shapes.map(({ name }) => [name, { times: [], cpu: [] }])),
    ]),
  );
  for (let sample = 0; sample < samples; sample += 1) {
    const pids = new Map();
    for (const { rows, databaseUrl } of sizes) pids.set(rows, await sessionsOf(databaseUrl));
    for (const { name, ask } of shapes) {
      for (const { rows, database, scene } of sizes) {
        const { times, cpu } = measured.get(rows).get(name);
        const cpuBefore = cpuOf(pids.get(rows));
        const began = performance.now();
        await ask(database, scene);
        times.push(performance.now() - began);
        const spent = cpuOf(pids.get(rows)) - cpuBefore;
        // None if a new session answered.
        if (spent > 0) cpu.push(spent);
      }
    }
  }
  return measured;
}

/** The processes of Postgres that answer queries on a database. */
const sessionsOf = (databaseUrl) =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    return rows.map(({ pid }) => pid);
  });

/** Not a number if one of them is not on this machine. */
const cpuOf = (pids) => pids.reduce((sum, pid) => sum + (cpuMs(pid) ?? Number.NaN), 0);

async function compareSizes(options, machine, measured) {
  const [small] = measured;
  const large = measured.at(-1);
  const rows = options.shapes.map(({ name }) => {
    const before = small.shapes.get(name);
    const after = large.shapes.get(name);
    return {
      name,
      label: name,
      smallMs: before.p95Ms,
      smallCpuMs: before.cpuP50Ms,
      smallCpuP95Ms: before.cpuP95Ms,
      largeMs: after.p95Ms,
      largeCpuMs: after.cpuP50Ms,
      largeCpuP95Ms: after.cpuP95Ms,
      slower: (after.cpuP95Ms ?? after.p95Ms) / (after.cpuP95Ms ? before.cpuP95Ms : before.p95Ms),
    };
  });
  const workload = workloadOf(small.rows, large.rows);
  const bounded = rows.filter((_row, index) => options.shapes[index].isUnbounded !== true);
  const goals = bounded.map(({ label, slower }) => ({
    what: `p95 of the CPU time of ${label} against that at ${shown(small.rows)} rows`,
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
    { key: 'smallCpuMs', label: `CPU ms, ${shown(few)} rows`, digits: 1 },
    { key: 'smallCpuP95Ms', label: 'p95', digits: 1 },
    { key: 'smallMs', label: 'p95 ms', digits: 1 },
    { key: 'largeCpuMs', label: `CPU ms, ${shown(many)} rows`, digits: 1 },
    { key: 'largeCpuP95Ms', label: 'p95', digits: 1 },
    { key: 'largeMs', label: 'p95 ms', digits: 1 },
    { key: 'slower', label: '× CPU p95', digits: 1 },
  ],
});

function readOptions(args) {
  const values = parseOptions(args, {
    rows: { type: 'string', default: '50000,5000000' },
    days: { type: 'string', default: '90' },
    samples: { type: 'string', default: '60' },
    only: { type: 'string', multiple: true },
    keep: { type: 'boolean', default: false },
    database: { type: 'string' },
  });
  const rows = readAscending(values.rows);
  const [days, samples] = [Number(values.days), Number(values.samples)];
  if (!(rows?.[0] > 0) || !(days >= DAYS_MIN) || !Number.isInteger(days)) throw new Error(USAGE);
  if (!Number.isInteger(samples) || samples <= 0) throw new Error(USAGE);
  if (values.keep && values.database === undefined)
    throw new Error('--keep needs --database: the embedded Postgres is removed at the end');
  if (values.markdown !== undefined && values.only !== undefined)
    throw new Error('--markdown writes the whole table, so it is not allowed with --only');
  const shapes = SHAPES.filter(
    ({ name }) => values.only === undefined || values.only.some((text) => name.includes(text)),
  );
  if (shapes.length === 0) throw new Error(`no query has this in its name: ${values.only}`);
  return { ...values, rows, days, samples, shapes };
}

await runCommandLine({
  usage: USAGE,
  readOptions,
  main: (options) => withScratch((scratch) => measure(options, scratch)),
});
