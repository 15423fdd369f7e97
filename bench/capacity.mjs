// `pnpm bench:capacity`: simulates a day of installations from one machine to a thousand nodes and ten million users.
import { REDIS, ROW_BYTES } from './capacity/costs.mjs';
import { measureRedis, measureRow } from './capacity/measure.mjs';
import { HABITS, LIMITS, simulateDay, usersMax } from './capacity/simulate.mjs';
import { SIZES } from './capacity/sizes.mjs';
import { parseOptions } from './options.mjs';
import { describeMachine, print, report } from './report.mjs';
import { runCommandLine, withScratch } from './run.mjs';
import { startStores } from './service.mjs';

const USAGE = `pnpm bench:capacity [options]

  --requests-per-user N  how many requests a user sends on a day on which it is there; else ${HABITS.requestsPerActiveUser}
  --tokens N             how many tokens an answer has; else ${HABITS.tokensPerAnswer}
  --measure              first measure what Redis and Postgres take, instead of the numbers in capacity/costs.mjs
  --json FILE            also write the results as JSON
  --markdown FILE        also write the table into FILE, between its marks
  --no-build             measure the build that is there, even if sources are newer
  --help                 this
`;

const GB = 1e9;
const SECS_PER_MINUTE = 60;

const WORKLOAD = {
  name: 'capacity',
  title: 'a simulated day, Postgres away for 10 minutes in the busiest hour',
  basis: 'Simulated on',
  columns: [
    { key: 'peakRequests', label: 'requests/s at the peak', digits: 0 },
    { key: 'peakStreams', label: 'open streams', digits: 0 },
    { key: 'gateways', label: 'gateways', digits: 0 },
    { key: 'tunnels', label: 'tunnels', digits: 0 },
    { key: 'redisPercent', label: 'Redis % of a core', digits: 1 },
    { key: 'redisGb', label: 'Redis GB', digits: 2 },
    { key: 'postgresPercent', label: 'Postgres % of its cores', digits: 1 },
    { key: 'rowsGbPerDay', label: 'rows GB a day', digits: 2 },
    { key: 'waitingAfterOutage', label: 'events waiting after the outage', digits: 0 },
    { key: 'caughtUpMinutes', label: 'minutes until none waits', digits: 1 },
    { key: 'first', label: 'full first' },
    { key: 'usersMillions', label: 'at million users', digits: 1 },
  ],
};

async function measured({ folder, opened }) {
  const stores = await startStores({ folder, options: {} });
  opened.push(() => stores.stop());
  const [, redisPid] = stores.storePids();
  const redis = await measureRedis({ folder, redisUrl: stores.redisUrl, redisPid });
  return { redis, rowBytes: await measureRow(stores.databaseUrl) };
}

async function simulate(options, scratch) {
  const machine = await describeMachine({ node: process.execPath });
  const costs = options.measure ? await measured(scratch) : { redis: REDIS, rowBytes: ROW_BYTES };
  const { redis, rowBytes } = costs;
  print(
    `Redis: ${redis.requestUs.toFixed(0)} µs for a request, ${redis.userBytes.toFixed(0)} bytes of a user, ` +
      `${redis.eventBytes.toFixed(0)} bytes of an event; Postgres: ${rowBytes.toFixed(0)} bytes of a row`,
  );
  const rows = SIZES.map((size) => rowOf(size, costs, options.habits));
  await report(options, machine, WORKLOAD, { rows, goals: [] });
}

function rowOf(size, costs, habits) {
  const day = simulateDay(size, costs, habits);
  const max = usersMax(size, costs, habits);
  return {
    ...day,
    name: size.label,
    label: size.label,
    redisPercent: day.used.redisCore * 100,
    postgresPercent: day.used.postgresCores * 100,
    caughtUpMinutes: day.caughtUpSecs / SECS_PER_MINUTE,
    first: LIMITS[max.part],
    usersMillions: max.users / 1_000_000,
    redisGb: day.redisBytes / GB,
    rowsGbPerDay: day.rowBytesPerDay / GB,
  };
}

function readOptions(args) {
  const values = parseOptions(args, {
    'requests-per-user': { type: 'string', default: String(HABITS.requestsPerActiveUser) },
    tokens: { type: 'string', default: String(HABITS.tokensPerAnswer) },
    measure: { type: 'boolean', default: false },
  });
  const requestsPerActiveUser = Number(values['requests-per-user']);
  const tokensPerAnswer = Number(values.tokens);
  if (!(requestsPerActiveUser > 0 && tokensPerAnswer > 0)) throw new Error(USAGE);
  return { ...values, habits: { ...HABITS, requestsPerActiveUser, tokensPerAnswer } };
}

await runCommandLine({
  usage: USAGE,
  readOptions,
  main: (options) => withScratch((scratch) => simulate(options, scratch)),
});
