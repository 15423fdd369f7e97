import { waitUntil } from '@model-gateway/testkit';
import { checkBooks, type Differences } from '../books/check-books.ts';
import { countUnfinishedJobs, readBooks } from '../books/read-books.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { Sent } from '../load/outcome.ts';
import { sumMetric } from './processes-state.ts';
import { timed } from './timed.ts';

/** The state after a load. */
interface Settled {
  /** How long it took until everything was written. */
  readonly settledMs: number;
  readonly rows: number;
  readonly differences: Differences;
  readonly problems: readonly string[];
}

const OUTPUT_CHARS_MAX = 2_000;
const SETTLED_WITHIN_MS = 180_000;

/** Waits until everything that the load caused is written, then compares the books with it. */
export async function settle(deployment: Deployment, sent: readonly Sent[]): Promise<Settled> {
  const { accounts, upstreams, video, processes, postgres } = deployment;
  const problems: string[] = [];
  const settledMs = await timed(() => settled(deployment)).catch((error: unknown) => {
    problems.push(String(error));
    return Number.NaN;
  });
  const books = await readBooks(postgres.url);
  const served = new Map(upstreams.left.served);
  for (const [ref, answers] of upstreams.right.served)
    served.set(ref, [...(served.get(ref) ?? []), ...answers]);
  for (const app of processes.values())
    if (app.unexpectedEnds > 0)
      problems.push(`${app.name} ended unexpectedly:\n${app.output().slice(-OUTPUT_CHARS_MAX)}`);
  const truth = { sent, served, funded: accounts.funded, videoTasks: video.taskCount };
  return { settledMs, rows: books.rows.length, differences: checkBooks(books, truth), problems };
}

/** Waits until every movement of points is certain, every job has ended, and the journal is empty. */
async function settled(deployment: Deployment): Promise<void> {
  await deployment.accounts.finish();
  const { url } = deployment.postgres;
  await waitUntil(async () => (await countUnfinishedJobs(url)) === 0, {
    timeoutMs: SETTLED_WITHIN_MS,
    what: 'the end of every video job',
  });
  await waitUntil(
    async () =>
      (await sumMetric(deployment, 'service_http_requests_in_flight')) <=
      IDLE_REQUESTS_MAX * deployment.processes.size,
    {
      timeoutMs: SETTLED_WITHIN_MS,
      what: 'the end of every request',
    },
  );
  await waitUntil(async () => (await sumMetric(deployment, 'service_journal_lag')) === 0, {
    timeoutMs: SETTLED_WITHIN_MS,
    what: 'an empty usage journal',
  });
}

/** The request for metrics counts itself, and a readiness probe may be in progress. */
const IDLE_REQUESTS_MAX = 2;
