import { ServiceError, videoJobSchema, videoRequestSchema } from '@model-gateway/contracts';
import { z } from 'zod';
import type { NewVideoJob, VideoJob, VideoJobStore, VideoWork } from '@model-gateway/inference';
import type { Connection, Queries } from '../connection/connection.ts';
import type { VideoJob as VideoJobRow } from '../generated/client.ts';
import { lockUser } from '../accounts/lock-user.ts';
import { storableJson } from '../connection/storable-text.ts';
import {
  addCancelledTask,
  beginJob,
  cancelJob,
  endCancel,
  failJob,
  finishJob,
  startSubmission,
} from './video-transitions.ts';

const PAGE_ROWS = 1_000;

const { status: statusSchema, result: resultSchema } = videoJobSchema.shape;
// A stored order was valid when it was created, so a limit that changed since then does not matter.
const orderSchema = videoRequestSchema.omit({ model: true, images: true }).extend({
  prompt: z.string(),
  negative_prompt: z.string().optional(),
  provider: z.string().optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
});

const shown = {
  id: true,
  userId: true,
  model: true,
  status: true,
  progress: true,
  result: true,
  error: true,
  cost: true,
  createdAt: true,
} as const;

export function createPostgresVideoJobs(connection: Connection): VideoJobStore {
  return {
    create: (job) => connection.transaction((queries) => addJob(queries, job)),

    find: (id) =>
      connection.run(async (queries) => {
        const row = await queries.videoJob.findUnique({ where: { id }, select: shown });
        return row === null ? undefined : toJob(row);
      }),

    findRepeated: (userId, { idempotencyKey, orderHash }) =>
      connection.run(async (queries) => {
        const row = await queries.videoJob.findFirst({
          where: { userId, idempotencyKey },
          select: { ...shown, orderHash: true },
        });
        return row === null ? undefined : repeatedJob(row, orderHash);
      }),

    list: (userId, countMax, before) =>
      connection.run(async (queries) => {
        const rows = await queries.videoJob.findMany({
          where: { userId },
          select: shown,
          orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
          take: countMax,
          ...(before === undefined ? {} : { cursor: { id: before }, skip: 1 }),
        });
        return rows.map(toJob);
      }),

    findWork: (id) =>
      connection.run(async (queries) => {
        const row = await queries.videoJob.findUnique({ where: { id } });
        return row === null ? undefined : toWork(row);
      }),

    images: (id) =>
      connection.run((queries) =>
        queries.videoJobImage.findMany({
          where: { jobId: id },
          select: { mimeType: true, data: true },
          orderBy: { position: 'asc' },
        }),
      ),

    async *unfinished(submittingMs) {
      let last: string | undefined;
      for (;;) {
        const page = await connection.run((queries) => readUnfinished(queries, submittingMs, last));
        if (page.length > 0) yield page;
        if (page.length < PAGE_ROWS) return;
        last = page.at(-1);
      }
    },

    startSubmission: (id, to) => connection.run((queries) => startSubmission(queries, id, to)),

    undoSubmission: (id) =>
      connection.run(async (queries) => {
        await queries.videoJob.updateMany({
          where: { id, status: 'queued' },
          data: { submitStartedAt: null, backend: null, servedModel: null },
        });
      }),

    begin: (id, taskId) => connection.run((queries) => beginJob(queries, id, taskId)),

    claimPoll: (id, intervalMs) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<
          { id: string; backend: string; taskId: string; startedAt: Date }[]
        >`
          UPDATE video_jobs SET polled_at = clock_timestamp(), updated_at = clock_timestamp()
          WHERE id = ${id}::uuid AND status = 'running'
            AND (polled_at IS NULL OR polled_at <= clock_timestamp() - ${intervalMs} * INTERVAL '1 millisecond')
          RETURNING id, backend, upstream_task_id AS "taskId", started_at AS "startedAt"`;
        return rows[0];
      }),

    advance: (id, progress) =>
      connection.run(async (queries) => {
        const { count } = await queries.videoJob.updateMany({
          where: { id, status: 'running', progress: { lt: progress } },
          data: { progress },
        });
        return count > 0;
      }),

    finish: (id, end) => connection.run((queries) => finishJob(queries, id, end)),
    fail: (id, error) => connection.run((queries) => failJob(queries, id, error)),
    cancel: (id) => connection.run((queries) => cancelJob(queries, id)),
    addCancelledTask: (id, taskId) =>
      connection.run((queries) => addCancelledTask(queries, id, taskId)),
    endCancel: (id, cost) => connection.run((queries) => endCancel(queries, id, cost)),
  };
}

async function addJob(queries: Queries, job: NewVideoJob): ReturnType<VideoJobStore['create']> {
  const { userId } = job.payer;
  await lockUser(queries, userId);
  const isNew = await insertJob(queries, job);
  if (isNew) await assertFew(queries, job);
  if (isNew && job.images.length > 0) await insertImages(queries, job);
  const row = await queries.videoJob.findFirstOrThrow({
    where: isNew ? { id: job.id } : { userId, idempotencyKey: job.idempotencyKey },
    select: { ...shown, orderHash: true },
  });
  return { job: repeatedJob(row, job.orderHash), isNew };
}

/** A job of an earlier version does not say what was ordered. */
function repeatedJob(
  { orderHash, ...row }: ShownRow & Pick<VideoJobRow, 'orderHash'>,
  repeatedHash: string | null,
): VideoJob {
  if (orderHash === null || orderHash === repeatedHash) return toJob(row);
  throw new ServiceError(
    'idempotency_conflict',
    "the 'idempotency-key' was used before for a video with another body",
  );
}

/**
 * Of a user with too many unfinished jobs the new one is rolled back. A cancelled one is unfinished until its upstream was
 * asked.
 */
async function assertFew(
  queries: Queries,
  { payer: { userId }, unfinishedMax }: NewVideoJob,
): Promise<void> {
  const unfinished = await queries.videoJob.count({
    where: { userId, OR: [{ status: { in: ['queued', 'running'] } }, { cancelPending: true }] },
    take: unfinishedMax + 1,
  });
  if (unfinished <= unfinishedMax) return;
  throw new ServiceError(
    'rate_limit_exceeded',
    `too many unfinished video jobs: at most ${unfinishedMax} per user. ` +
      'Try again when one has ended; an operator raises the limit with SERVICE_MAX_VIDEO_JOBS_PER_USER.',
  );
}

/** False when the idempotency key belongs to another job of the user. */
async function insertJob(queries: Queries, job: NewVideoJob): Promise<boolean> {
  const { payer } = job;
  const added = await queries.$executeRaw`
    INSERT INTO video_jobs (
      id, user_id, key_id, api_key_id, project, group_id, cost_multiplier, model, resolved_model, request, idempotency_key,
      order_hash, allowed_models
    )
    VALUES (
      ${job.id}::uuid, ${payer.userId}::uuid, ${payer.keyId}::uuid, ${payer.apiKeyId}, ${payer.project},
      ${payer.groupId}::uuid, ${payer.multiplier}, ${job.model}, ${job.resolvedModel},
      ${storableJson(job.order)}::jsonb, ${job.idempotencyKey}, ${job.orderHash},
      ${job.allowedModels === null ? null : storableJson(job.allowedModels)}::jsonb
    )
    ON CONFLICT (user_id, idempotency_key) DO NOTHING`;
  return added > 0;
}

async function insertImages(queries: Queries, { id, images }: NewVideoJob): Promise<void> {
  await queries.videoJobImage.createMany({
    data: images.map(({ mimeType, data }, position) => ({
      jobId: id,
      position,
      mimeType,
      data: new Uint8Array(data),
    })),
  });
}

/** One page, after the last job of the previous page: found by its row, since JavaScript dates lose microseconds. */
async function readUnfinished(
  queries: Queries,
  submittingMs: number,
  last: string | undefined,
): Promise<readonly string[]> {
  const rows = await queries.$queryRaw<{ id: string }[]>`
    SELECT id FROM video_jobs
    WHERE (
        status = 'running' OR cancel_pending OR status = 'queued' AND (
          submit_started_at IS NULL
          OR submit_started_at <= clock_timestamp() - ${submittingMs} * INTERVAL '1 millisecond'
        )
      )
      AND (
        ${last ?? null}::uuid IS NULL
        OR (created_at, id) > (SELECT created_at, id FROM video_jobs WHERE id = ${last ?? null}::uuid)
      )
    ORDER BY created_at, id
    LIMIT ${PAGE_ROWS}`;
  return rows.map(({ id }) => id);
}

type ShownRow = Pick<VideoJobRow, keyof typeof shown>;

const toJob = (row: ShownRow): VideoJob => ({
  ...row,
  status: statusSchema.parse(row.status),
  result: resultSchema.parse(row.result),
});

function toWork(row: VideoJobRow): VideoWork {
  const { id, userId, model, status, progress, result, error, cost, createdAt } = row;
  return {
    ...toJob({ id, userId, model, status, progress, result, error, cost, createdAt }),
    payer: {
      userId,
      keyId: row.keyId,
      apiKeyId: row.apiKeyId,
      project: row.project,
      groupId: row.groupId,
      // A job whose group was deleted draws on the wallet of its user, like its key.
      multiplier: row.groupId === null ? 1 : row.costMultiplier,
    },
    resolvedModel: row.resolvedModel,
    order: orderSchema.parse(row.request),
    allowedModels: z.array(z.string()).nullable().parse(row.allowedModels),
    backend: row.backend,
    servedModel: row.servedModel,
    cancelling: cancelledTaskOf(row),
  };
}

function cancelledTaskOf(row: VideoJobRow): VideoWork['cancelling'] {
  const { cancelPending, backend, upstreamTaskId, finishedAt, updatedAt } = row;
  if (!cancelPending || backend === null || upstreamTaskId === null) return null;
  return { backend, taskId: upstreamTaskId, cancelledAt: finishedAt ?? updatedAt };
}
