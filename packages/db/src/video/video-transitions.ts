import type { VideoJobStore } from '@model-gateway/inference';
import type { Queries } from '../connection/connection.ts';
import { storableJson, storableText } from '../connection/storable-text.ts';

type FailedVideo = NonNullable<Awaited<ReturnType<VideoJobStore['fail']>>>;
type End = Parameters<VideoJobStore['finish']>[1];
type Destination = Parameters<VideoJobStore['startSubmission']>[1];

const EVENT_TEXT_CHARS_MAX = 1_000;

/** Stores where a queued job is about to be submitted. */
export async function startSubmission(
  queries: Queries,
  id: string,
  { backend, servedModel }: Destination,
): Promise<boolean> {
  const changed = await queries.$executeRaw`
    UPDATE video_jobs
    SET submit_started_at = clock_timestamp(), updated_at = clock_timestamp(),
      backend = ${backend}, served_model = ${servedModel}
    WHERE id = ${id}::uuid AND status = 'queued'`;
  return changed > 0;
}

/** Queued → running. The task id is stored before the task is polled. */
export async function beginJob(queries: Queries, id: string, taskId: string): Promise<boolean> {
  const changed = await queries.$executeRaw`
    UPDATE video_jobs
    SET status = 'running', upstream_task_id = ${taskId},
      started_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE id = ${id}::uuid AND status = 'queued'`;
  return changed > 0;
}

/** Running → done. */
export async function finishJob(
  queries: Queries,
  id: string,
  { result, cost, at }: End,
): Promise<boolean> {
  const ended = await queries.$queryRaw<unknown[]>`
    WITH ended AS (
      UPDATE video_jobs
      SET status = 'done', progress = 100, result = ${storableJson(result)}::jsonb, cost = ${cost},
        finished_at = ${at.toISOString()}::timestamptz, updated_at = clock_timestamp()
      WHERE id = ${id}::uuid AND status = 'running'
      RETURNING id, user_id, group_id, model, cost
    ), reported AS (
      INSERT INTO outbox_events (id, key, type, group_id, data)
      SELECT gen_random_uuid(), concat_ws(':', 'video.done', id), 'video.done', group_id,
        jsonb_build_object('job_id', id, 'user_id', user_id, 'group_id', group_id, 'model', model, 'cost_usd', cost)
      FROM ended ON CONFLICT (key) DO NOTHING
    ), let_go AS (
      DELETE FROM video_job_images WHERE job_id IN (SELECT id FROM ended)
    )
    SELECT 1 FROM ended`;
  return ended.length > 0;
}

/** Queued or running → failed. */
export const failJob = (
  queries: Queries,
  id: string,
  error: string,
): Promise<FailedVideo | undefined> => endWithoutResult(queries, id, 'failed', storableText(error));

/** Queued or running → cancelled. */
export const cancelJob = async (queries: Queries, id: string): Promise<boolean> =>
  (await endWithoutResult(queries, id, 'cancelled', 'cancelled')) !== undefined;

/** Stores the task of a job that was cancelled while it was submitted. */
export async function addCancelledTask(
  queries: Queries,
  id: string,
  taskId: string,
): Promise<boolean> {
  const changed = await queries.$executeRaw`
    UPDATE video_jobs
    SET upstream_task_id = ${taskId}, cancel_pending = true, updated_at = clock_timestamp()
    WHERE id = ${id}::uuid AND status = 'cancelled' AND upstream_task_id IS NULL`;
  return changed > 0;
}

/** The upstream was asked to cancel the task, or cannot be asked. */
export async function endCancel(queries: Queries, id: string, cost: number): Promise<boolean> {
  const changed = await queries.$executeRaw`
    UPDATE video_jobs SET cancel_pending = false, cost = ${cost}, updated_at = clock_timestamp()
    WHERE id = ${id}::uuid AND cancel_pending`;
  return changed > 0;
}

async function endWithoutResult(
  queries: Queries,
  id: string,
  status: 'failed' | 'cancelled',
  error: string,
): Promise<FailedVideo | undefined> {
  const [ended] = await queries.$queryRaw<FailedVideo[]>`
    WITH ended AS (
      UPDATE video_jobs
      SET status = ${status}, error = ${error}, finished_at = clock_timestamp(), updated_at = clock_timestamp(),
        cancel_pending = (${status} = 'cancelled' AND upstream_task_id IS NOT NULL)
      WHERE id = ${id}::uuid AND status IN ('queued', 'running')
      RETURNING id, user_id, group_id, model, backend
    ), reported AS (
      INSERT INTO outbox_events (id, key, type, group_id, data)
      SELECT gen_random_uuid(), concat_ws(':', 'video.failed', id), 'video.failed', group_id,
        jsonb_build_object('job_id', id, 'user_id', user_id, 'group_id', group_id, 'model', model,
          'error', left(${error}, ${EVENT_TEXT_CHARS_MAX}))
      FROM ended WHERE ${status} = 'failed' ON CONFLICT (key) DO NOTHING
    ), let_go AS (
      DELETE FROM video_job_images WHERE job_id IN (SELECT id FROM ended)
    )
    SELECT user_id AS "userId", model, backend FROM ended`;
  return ended;
}
