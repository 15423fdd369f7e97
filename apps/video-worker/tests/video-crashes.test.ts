import { waitUntil, type TestProcess } from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { Client } from 'pg';
import { submissionsOf, type ObservedJob } from './video-scene.ts';
import { createWorkerProcesses, type WorkerProcesses } from './worker-processes.ts';

// The lock under which usage is settled.
const SETTLEMENT_LOCK = 72_707_370;

const PLACES = ['before-submit', 'after-submit', 'while-polling', 'before-settling'] as const;
type Place = (typeof PLACES)[number];

let processes: WorkerProcesses;
const upstreams = new Map<Place, RunningCloudVideo>();
const jobs = new Map<Place, ObservedJob>();
const clients: Client[] = [];
let dying: TestProcess;

const upstreamAt = (place: Place): RunningCloudVideo => found(upstreams.get(place));
const jobAt = (place: Place): ObservedJob => found(jobs.get(place));

function found<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('nothing is stored for this place');
  return value;
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: processes.databaseUrl });
  await client.connect();
  clients.push(client);
  return client;
}

/** Begins a transaction that holds a lock; the returned function releases it. */
async function lock(statement: string, values: readonly unknown[]): Promise<() => Promise<void>> {
  const client = await connect();
  await client.query('BEGIN');
  await client.query(statement, [...values]);
  return async () => {
    await client.query('ROLLBACK');
  };
}

/** Waits until `count` connections of the worker wait for a lock. */
async function waitingForLocks(count: number): Promise<void> {
  const client = await connect();
  await waitUntil(
    async () => {
      const { rows } = await client.query<{ waiting: number }>(
        `SELECT count(*)::int AS waiting FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows[0]?.waiting === count;
    },
    { what: `${count} connections that wait for a lock` },
  );
}

/** Never responds to the first poll of the first task, but to the probes before it. */
async function holdPoll(upstream: RunningCloudVideo): Promise<void> {
  await upstream.until(() => upstream.taskCount === 1);
  upstream.faults.next({ kind: 'hang' }, 1, 'query');
  await upstream.until(() => upstream.requests.some(({ query }) => 'task_id' in query));
}

/** Kills a worker with one job blocked at each place, and starts another worker. */
async function killWhileBlocked(): Promise<void> {
  upstreamAt('after-submit').faults.next({ kind: 'held-answer' }, 1, 'submit');
  for (const place of PLACES.slice(1)) jobs.set(place, found((await processes.create(place))[0]));
  const releaseSettlement = await lock('SELECT pg_advisory_xact_lock($1)', [SETTLEMENT_LOCK]);
  const beforeSubmit = found((await processes.create('before-submit'))[0]);
  jobs.set('before-submit', beforeSubmit);
  const releaseRow = await lock('SELECT 1 FROM video_jobs WHERE id = $1 FOR UPDATE', [
    beforeSubmit.id,
  ]);
  const holding = holdPoll(upstreamAt('while-polling'));
  dying = await processes.start();
  await upstreamAt('after-submit').until(() => upstreamAt('after-submit').taskCount === 1);
  await holding;
  await waitingForLocks(2);
  await dying.kill();
  await releaseRow();
  await releaseSettlement();
  await processes.start();
}

beforeAll(async () => {
  processes = await createWorkerProcesses({ env: { SERVICE_VIDEO_POLL_MS: '100' } });
  for (const place of PLACES) {
    const upstream = await startCloudVideo();
    upstreams.set(place, upstream);
    await processes.register(place, upstream.url, [place]);
  }
  await killWhileBlocked();
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await processes.close();
  await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
});

test.each([
  { place: 'before-submit', submissions: 1 },
  // A second submission cannot be avoided here: the upstream recognizes it by the idempotency key.
  { place: 'after-submit', submissions: 2 },
  { place: 'while-polling', submissions: 1 },
  { place: 'before-settling', submissions: 1 },
] as const)(
  'after a kill -9 $place another worker finishes the job: one task, one bill, one notification',
  async ({ place, submissions }) => {
    const job = jobAt(place);
    expect(await job.ended()).toMatchObject({ status: 'done', progress: 100 });
    const upstream = upstreamAt(place);
    expect([submissionsOf(upstream, job), upstream.taskCount]).toEqual([submissions, 1]);
    expect(job.notified).toEqual([0, 5, 50, 'done']);
    const { database, userId } = processes;
    const { records } = await database.usage.list({ userId, limit: 100, offset: 0 });
    expect(records.filter(({ id }) => id === job.id)).toHaveLength(1);
  },
);
