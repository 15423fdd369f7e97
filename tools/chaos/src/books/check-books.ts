import { groupBy } from '../group-by.ts';
import type { Served } from '../deployment/scripted-upstream.ts';
import { PROBE_PREFIX } from '../deployment/scripted-upstream.ts';
import type { Sent } from '../load/outcome.ts';
import type { Books, UsageRow } from './read-books.ts';

/** What the books are compared with. */
export interface Truth {
  readonly sent: readonly Sent[];
  /** What all upstreams served, by reference. */
  readonly served: ReadonlyMap<string, readonly Served[]>;
  readonly funded: ReadonlyMap<string, number>;
  readonly videoTasks: number;
}

/** The differences between the books and the truth; none after a good run. */
export interface Differences {
  /** Requests whose client has all of the answer, without a usage row. */
  readonly missing: readonly string[];
  readonly doubled: readonly string[];
  /** Rows of requests that no upstream served. */
  readonly invented: readonly string[];
  /** Rows with other tokens than the upstream and the answer said. */
  readonly wrongTokens: readonly string[];
  /** Accounts whose points do not add up, with the difference. */
  readonly points: readonly string[];
  /** Video jobs that were accepted and not completed, or not billed once. */
  readonly video: readonly string[];
}

/** Kinds that a usage row must follow. */
const METERED = new Set(['chat', 'stream', 'node-chat', 'node-stream', 'embeddings', 'rpc-chat']);
const NODE = new Set(['node-chat', 'node-stream']);

export function checkBooks(books: Books, truth: Truth): Differences {
  const rowsByRef = groupBy(
    books.rows.filter(({ ref }) => ref !== null),
    ({ ref }) => ref,
  );
  const sentByRef = new Map(truth.sent.map((one) => [one.ref, one]));
  const complete = truth.sent.filter(
    ({ kind, outcome }) => METERED.has(kind) && outcome.name === 'complete',
  );
  const wasServed = (ref: string): boolean => {
    const one = sentByRef.get(ref);
    return truth.served.has(ref) || (one !== undefined && NODE.has(one.kind));
  };
  return {
    missing: complete.filter(({ ref }) => !rowsByRef.has(ref)).map(labelOf),
    doubled: [...rowsByRef].flatMap(([ref, rows]) =>
      rows.length > 1 ? [`${rows.length} rows of ${ref}`] : [],
    ),
    invented: [...rowsByRef.keys()].flatMap((ref) =>
      ref === null || ref.startsWith(PROBE_PREFIX) || wasServed(ref) ? [] : [ref],
    ),
    wrongTokens: complete.flatMap((one) => wrongTokens(one, rowsByRef.get(one.ref)?.[0], truth)),
    points: checkPoints(books, truth),
    video: checkVideo(books, truth),
  };
}

const labelOf = ({ kind, ref }: Sent): string => `${kind} ${ref}`;

function wrongTokens(one: Sent, row: UsageRow | undefined, { served }: Truth): readonly string[] {
  if (row === undefined) return [];
  const reported = one.outcome.tokens;
  const isAsTold =
    reported === undefined ||
    (reported.prompt === row.promptTokens && reported.completion === row.completionTokens);
  const answers = served.get(one.ref);
  const isAsServed =
    answers === undefined
      ? NODE.has(one.kind)
      : answers.some(
          (answer) =>
            answer.isWhole &&
            answer.promptTokens === row.promptTokens &&
            answer.completionTokens === row.completionTokens,
        );
  return isAsTold && isAsServed
    ? []
    : [`${labelOf(one)}: row ${row.promptTokens}+${row.completionTokens}`];
}

/** Points that came in, minus the points of rows, are the balance; and every charge is one entry. */
function checkPoints({ rows, accounts, totalled }: Books, { funded }: Truth): readonly string[] {
  const wrong: string[] = [];
  for (const { name, balance, lowest, usage, usageEntries, moved } of accounts) {
    const charged = rows.filter(({ account, points }) => account === name && points !== null);
    const points = charged.reduce((sum, row) => sum + (row.points ?? 0), 0);
    const came = funded.get(name) ?? 0;
    if (moved !== came) wrong.push(`${name}: ${moved} points were moved instead of ${came}`);
    if (usage !== -points && usage + points !== 0)
      wrong.push(`${name}: ${-usage} points were charged, rows say ${points}`);
    if (usageEntries !== charged.length)
      wrong.push(`${name}: ${usageEntries} charges for ${charged.length} rows`);
    if (balance !== moved + usage) wrong.push(`${name}: balance ${balance}, not ${moved + usage}`);
    if (lowest < 0) wrong.push(`${name}: the balance was ${lowest}`);
  }
  if (totalled !== rows.length) wrong.push(`totals count ${totalled} of ${rows.length} rows`);
  return wrong;
}

function checkVideo({ rows, jobs }: Books, { sent, videoTasks }: Truth): readonly string[] {
  const accepted = sent.flatMap(({ outcome }) =>
    outcome.jobId === undefined ? [] : [outcome.jobId],
  );
  const billed = groupBy(rows, ({ id }) => id);
  const wrong = accepted.flatMap((id) => {
    const state = jobs.get(id) ?? 'lost';
    if (state !== 'done') return [`job ${id} is ${state}`];
    const count = billed.get(id)?.length ?? 0;
    return count === 1 ? [] : [`job ${id} has ${count} usage rows`];
  });
  // A submission without an answer is repeated with its idempotency key, so that each job has one task.
  if (videoTasks > jobs.size) wrong.push(`${videoTasks} tasks for ${jobs.size} jobs`);
  return wrong;
}
