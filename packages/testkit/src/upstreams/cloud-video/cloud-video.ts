import { asObject, asText, isObject, type JsonObject } from '@model-gateway/demo-model/answers';
import { createFaultPlan, faultOf, type FaultPlan } from '../faults/fault-plan.ts';
import { extend } from '../wire/extend.ts';
import { applyHttpFaults, type HttpFault } from '../faults/http-faults.ts';
import {
  startHttpServer,
  type HttpServerOptions,
  type RunningHttpServer,
} from '../wire/http-server.ts';
import type { Exchange } from '../wire/exchange.ts';
import { createVideoTasks, type VideoTask, type VideoTaskStatus } from './video-tasks.ts';

/** The faults of a video API. */
export type VideoFault =
  | HttpFault
  /** Responds with 200 and an error in `base_resp`. */
  | { readonly kind: 'refused'; readonly code?: number; readonly message?: string }
  /** Accepts the task, then resets the connection without a response. */
  | { readonly kind: 'lost-answer' }
  /** Accepts the task and never responds. */
  | { readonly kind: 'held-answer' }
  /** Removes the task. */
  | { readonly kind: 'lost-task' }
  /** Ends the task as failed. */
  | { readonly kind: 'fail'; readonly reason?: string }
  /** Keeps the task processing, however often it is polled. */
  | { readonly kind: 'never-finish' }
  /** Omits the download URL. */
  | { readonly kind: 'no-download-url' };

/** The operations that a fault can apply to; by default all except the download. */
export type VideoOperation = 'submit' | 'query' | 'retrieve' | 'cancel' | 'download';

/** The options of a video API. */
export interface CloudVideoOptions extends HttpServerOptions {
  /** The required bearer key; none by default. */
  readonly apiKey?: string;
  /** The states of a task, one per poll; with an empty list only `setTask` changes the state. */
  readonly steps?: readonly VideoTaskStatus[];
  /** The answer to a request to cancel a task. By default tasks cannot be cancelled. */
  readonly cancelAnswer?: (task: VideoTask) => JsonObject;
}

/** A running video API. */
export interface RunningCloudVideo extends RunningHttpServer {
  readonly faults: FaultPlan<VideoFault, VideoOperation>;
  /** The newest tasks, oldest first, with their polls. */
  readonly tasks: readonly VideoTask[];
  /** The number of all created tasks; a repeated idempotency key creates none. */
  readonly taskCount: number;
  /** Sets the state of a task; polls no longer change it. */
  setTask(taskId: string, status: VideoTaskStatus, error?: string): void;
}

const STEPS: readonly VideoTaskStatus[] = ['Preparing', 'Queueing', 'Processing', 'Success'];
const OK = { status_code: 0, status_msg: 'success' };
const AUTH_FAILED = 1004;
const RATE_LIMITED = 1002;
const SERVER_ERROR = 1000;
const INVALID_PARAMS = 2013;
const PROGRESS: Readonly<Record<VideoTaskStatus, number>> = {
  Preparing: 0,
  Queueing: 5,
  Processing: 50,
  Success: 100,
  Fail: 0,
};
const SIZES: Readonly<Record<string, readonly [number, number]>> = {
  '512P': [912, 512],
  '768P': [1366, 768],
  '1080P': [1920, 1080],
};
// The first box of an MP4 file, which has its type.
const VIDEO_BYTES = Buffer.from('000000186674797069736f6d0000020069736f6d69736f32', 'hex');

/** Starts a task-based video API like MiniMax: submit, query until it ends, retrieve the file. */
export async function startCloudVideo(options: CloudVideoOptions = {}): Promise<RunningCloudVideo> {
  const { apiKey, steps = STEPS, cancelAnswer } = options;
  const faults = createFaultPlan<VideoFault, VideoOperation>([
    'submit',
    'query',
    'retrieve',
    'cancel',
  ]);
  const tasks = createVideoTasks(steps);

  async function handle(exchange: Exchange): Promise<void> {
    const operation = operationOf(exchange);
    if (operation === undefined || (operation === 'cancel' && cancelAnswer === undefined))
      return refuse(exchange, 404, INVALID_PARAMS, 'no such page');
    const open = apiKey === undefined || operation === 'download';
    if (!open && exchange.headers.authorization !== `Bearer ${apiKey}`) {
      return refuse(exchange, 401, AUTH_FAILED, 'login fail: please carry the API secret key');
    }
    const currentFaults = faults.take(operation);
    if (await applyHttpFaults(exchange, currentFaults, errorBody)) return undefined;
    const refused = faultOf(currentFaults, 'refused');
    if (refused !== undefined) {
      const { code = INVALID_PARAMS, message = 'invalid params' } = refused;
      return refuse(exchange, 200, code, message);
    }
    if (operation === 'submit') return submit(exchange, currentFaults);
    if (operation === 'query') return query(exchange, currentFaults);
    if (operation === 'cancel') return cancel(exchange);
    if (operation === 'retrieve') return retrieve(exchange, currentFaults);
    return exchange.send(200, 'video/mp4', VIDEO_BYTES);
  }

  function submit(exchange: Exchange, currentFaults: readonly VideoFault[]): void {
    const body = exchange.json;
    if (!isObject(body) || asText(body.model) === undefined) {
      return refuse(exchange, 200, INVALID_PARAMS, 'invalid params, model is required');
    }
    const task = tasks.submit(body, asText(exchange.headers['idempotency-key']));
    if (faultOf(currentFaults, 'lost-answer') !== undefined) return exchange.cut('reset');
    if (faultOf(currentFaults, 'held-answer') !== undefined) return undefined;
    return exchange.sendJson(200, { task_id: task.taskId, base_resp: OK });
  }

  function query(exchange: Exchange, currentFaults: readonly VideoFault[]): void {
    const taskId = exchange.query.get('task_id') ?? '';
    if (faultOf(currentFaults, 'lost-task') !== undefined) tasks.forget(taskId);
    const failed = faultOf(currentFaults, 'fail');
    if (failed !== undefined) tasks.set(taskId, 'Fail', failed.reason ?? 'generation failed');
    if (faultOf(currentFaults, 'never-finish') !== undefined) tasks.set(taskId, 'Processing');
    const task = tasks.poll(taskId);
    if (task === undefined) return refuse(exchange, 200, INVALID_PARAMS, 'task not found');
    return exchange.sendJson(200, taskView(task));
  }

  function cancel(exchange: Exchange): void {
    const taskId = asText(asObject(exchange.json).task_id);
    const task = tasks.all.find((known) => known.taskId === taskId);
    if (task === undefined) return refuse(exchange, 200, INVALID_PARAMS, 'task not found');
    return exchange.sendJson(200, { ...cancelAnswer?.(task), base_resp: OK });
  }

  function retrieve(exchange: Exchange, currentFaults: readonly VideoFault[]): void {
    const fileId = exchange.query.get('file_id') ?? '';
    const task = tasks.byFile(fileId);
    if (task?.status !== 'Success') return refuse(exchange, 200, INVALID_PARAMS, 'file not found');
    const address = { download_url: `${server.url}/files/${fileId}.mp4` };
    const file = {
      file_id: fileId,
      bytes: VIDEO_BYTES.length,
      created_at: Math.floor(Date.now() / 1000),
      filename: 'output.mp4',
      purpose: 'video_generation',
      ...(faultOf(currentFaults, 'no-download-url') === undefined ? address : {}),
    };
    return exchange.sendJson(200, { file, base_resp: OK });
  }

  const server = await startHttpServer(options, handle);
  return extend(server, {
    faults,
    get tasks() {
      return tasks.all;
    },
    get taskCount() {
      return tasks.count;
    },
    setTask: (taskId: string, status: VideoTaskStatus, error?: string) =>
      tasks.set(taskId, status, error),
  });
}

function operationOf({ method, path }: Exchange): VideoOperation | undefined {
  if (method === 'POST' && path === '/v1/cancel/video_generation') return 'cancel';
  if (method === 'POST') return path === '/v1/video_generation' ? 'submit' : undefined;
  if (path === '/v1/query/video_generation') return 'query';
  if (path === '/v1/files/retrieve') return 'retrieve';
  return path.startsWith('/files/') ? 'download' : undefined;
}

function taskView(task: VideoTask): JsonObject {
  const [width, height] = SIZES[asText(asObject(task.body)['resolution']) ?? ''] ?? [1280, 720];
  const size = { video_width: width, video_height: height };
  return {
    task_id: task.taskId,
    status: task.status,
    progress: PROGRESS[task.status],
    ...(task.status === 'Success' ? { file_id: task.fileId, ...size } : {}),
    ...(task.status === 'Fail' ? { error: task.error ?? 'generation failed' } : {}),
    base_resp: OK,
  };
}

const errorBody = (status: number, message: string): unknown => ({
  base_resp: { status_code: status === 429 ? RATE_LIMITED : SERVER_ERROR, status_msg: message },
});

function refuse(exchange: Exchange, status: number, code: number, message: string): void {
  exchange.sendJson(status, { base_resp: { status_code: code, status_msg: message } });
}
