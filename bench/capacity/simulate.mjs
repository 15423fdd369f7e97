// One day of an installation, second by second: requests come and go, usage waits in the journal and is recorded, and Postgres
// is away for some minutes in the busiest hour.
import { CPU_US } from './costs.mjs';

const DAY_SECS = 86_400;
const HOUR_SECS = 3_600;
const US_PER_SECOND = 1_000_000;
const PEAK_HOUR = 15;
/** The busiest second of the day has this many times the mean, which is that of the curve below. */
const PEAK_FACTOR = 8 / 3;
const HEARTBEAT_SECS = 10;
/** A part that is used more than this has no room for the loss of another replica. */
const USED_MAX = 0.7;
/** Usage rows are kept: a year of them on a disk of this size. */
const ROW_DAYS = 365;
const DISK_BYTES = 4e12;
const REDIS_BYTES = 16e9;
const GATEWAYS_MIN = 2;

/** What is there once, whatever the number of gateways, by its name in the results. */
export const LIMITS = {
  redisCore: 'the core of Redis',
  redisMemory: '16 GB of Redis',
  recorders: 'recorders',
  postgresCores: 'cores of Postgres',
  postgresDisk: 'a year of rows on 4 TB',
};

/** What people do; the same for every size. */
export const HABITS = {
  /** The part of the users that is there on one day. */
  activeShare: 0.2,
  requestsPerActiveUser: 20,
  streamedShare: 0.8,
  tokensPerAnswer: 200,
  streamSecs: 10,
  postgresAwaySecs: 600,
};

/** Numbers from 0 to below 1, the same ones for the same seed. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const SMALL_MEAN = 20;

/** How many independent requests arrive in a second. */
function scattered(mean, random) {
  if (mean >= SMALL_MEAN) {
    const normal = random() + random() + random() + random() - 2;
    return mean + normal * Math.sqrt(3 * mean);
  }
  let count = 0;
  for (let left = Math.exp(mean) * random(); left > 1; left *= random()) count += 1;
  return count;
}

/** The square of a wave: quiet nights and one peak. */
const timesMean = (second) => {
  const turn = ((second - PEAK_HOUR * HOUR_SECS) / DAY_SECS) * 2 * Math.PI;
  return PEAK_FACTOR * ((1 + Math.cos(turn)) / 2) ** 2;
};

/**
 * Simulates one size: `users`, `nodes`, `modelsPerNode`, the share of the tokens that nodes make, and how many `recorders` and
 * `postgresCores` there are.
 */
export function simulateDay(size, { redis, rowBytes }, habits = HABITS, seed = 1) {
  const random = randomFrom(seed);
  const { activeShare, requestsPerActiveUser, streamedShare, streamSecs, tokensPerAnswer } = habits;
  const activeUsers = size.users * activeShare;
  const mean = (activeUsers * requestsPerActiveUser) / DAY_SECS;
  const backends = 2 + size.nodes * size.modelsPerNode;
  const requestUs = CPU_US.request + backends * CPU_US.backend;
  const recordedMax = Math.min(
    (size.recorders * US_PER_SECOND) / CPU_US.recorder,
    (size.postgresCores * US_PER_SECOND) / CPU_US.postgres,
  );
  const awayFrom = PEAK_HOUR * HOUR_SECS;
  const awayUntil = awayFrom + habits.postgresAwaySecs;
  const begun = new Float64Array(streamSecs);
  const peak = { requests: 0, streams: 0, gatewayCores: 0, tunnelCores: 0, waiting: 0 };
  let streams = 0;
  let waiting = 0;
  let requests = 0;
  let caughtUpAt;
  for (let second = 0; second < DAY_SECS; second += 1) {
    const arrived = scattered(mean * timesMean(second), random);
    const slot = second % streamSecs;
    const starting = arrived * streamedShare;
    streams += starting - begun[slot];
    begun[slot] = starting;
    const tokens = (streams / streamSecs) * tokensPerAnswer;
    const isAway = second >= awayFrom && second < awayUntil;
    waiting += arrived;
    if (!isAway) waiting -= Math.min(waiting, recordedMax);
    if (second >= awayUntil && waiting < 1) caughtUpAt ??= second;
    requests += arrived;
    peak.requests = Math.max(peak.requests, arrived);
    peak.streams = Math.max(peak.streams, streams);
    peak.waiting = Math.max(peak.waiting, waiting);
    const gatewayUs = arrived * requestUs + tokens * CPU_US.token;
    peak.gatewayCores = Math.max(peak.gatewayCores, gatewayUs / US_PER_SECOND);
    const tunnelUs =
      (size.nodes / HEARTBEAT_SECS) * CPU_US.heartbeat +
      tokens * size.nodeShare * CPU_US.tunnelToken;
    peak.tunnelCores = Math.max(peak.tunnelCores, tunnelUs / US_PER_SECOND);
  }
  const redisBytes = activeUsers * redis.userBytes + peak.waiting * redis.eventBytes;
  const rowBytesPerDay = requests * rowBytes;
  const used = {
    redisCore: (peak.requests * redis.requestUs) / US_PER_SECOND,
    redisMemory: redisBytes / REDIS_BYTES,
    recorders: (peak.requests * CPU_US.recorder) / US_PER_SECOND / size.recorders,
    postgresCores: (peak.requests * CPU_US.postgres) / US_PER_SECOND / size.postgresCores,
    postgresDisk: (rowBytesPerDay * ROW_DAYS) / DISK_BYTES,
  };
  const processesFor = (cores) => Math.max(GATEWAYS_MIN, Math.ceil(cores / USED_MAX));
  return {
    requests,
    peakRequests: peak.requests,
    peakStreams: peak.streams,
    gateways: processesFor(peak.gatewayCores),
    tunnels: processesFor(peak.tunnelCores),
    redisBytes,
    rowBytesPerDay,
    waitingAfterOutage: peak.waiting,
    caughtUpSecs: caughtUpAt === undefined ? Infinity : caughtUpAt - awayUntil,
    used,
  };
}

/** Many enough that chance does not decide. */
const MANY_USERS = 10_000_000;

/** The part of those that are there once which is full first, and with how many users. */
export function usersMax(size, costs, habits = HABITS) {
  const { used } = simulateDay({ ...size, users: MANY_USERS }, costs, habits);
  const [part, share] = Object.entries(used).toSorted(([, one], [, other]) => other - one)[0];
  return { part, users: Math.floor((MANY_USERS * USED_MAX) / share) };
}
