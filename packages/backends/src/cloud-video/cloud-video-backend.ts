import type { Tracing } from '@model-gateway/kernel';
import {
  UpstreamFailure,
  type Backend,
  type Capability,
  type VideoTask,
} from '@model-gateway/router';
import { z } from 'zod';
import { createControlPlane, type ControlAnswer } from '../transport/control-plane.ts';
import { cleanMessage } from '../errors/upstream-error.ts';
import type { UpstreamTimeouts } from '../transport/upstream-http.ts';
import { readVideoAnswer } from './video-answer.ts';
import { videoTaskBody } from './video-task-body.ts';

interface CloudVideoOptions {
  readonly name: string;
  /** The result of `upstreamPrefix` for the registered URL. */
  readonly prefix: URL;
  readonly apiKey: string | null;
  /** The models that it serves: the API does not list them. */
  readonly models: readonly string[];
  readonly timeouts: UpstreamTimeouts;
  readonly tracing?: Tracing | undefined;
}

const CAPABILITIES: ReadonlySet<Capability> = new Set(['video']);

// Ids are numbers in some APIs and texts in others.
const id = z.union([z.string(), z.int()]).transform(String);
const TASK_ID_CHARS_MAX = 256;

const submittedSchema = z.looseObject({
  task_id: id.pipe(z.string().min(1).max(TASK_ID_CHARS_MAX)),
});

// An invalid optional field must not fail the response.
const pixels = z.int().positive().optional().catch(undefined);

// A text, or an object that has it.
const reason = z.union([
  z.string(),
  z.looseObject({ message: z.string() }).transform(({ message }) => message),
]);

const querySchema = z.looseObject({
  status: z.enum(['Preparing', 'Queueing', 'Processing', 'Success', 'Fail']),
  file_id: id.optional().catch(undefined),
  progress: z.number().optional().catch(undefined),
  video_width: pixels,
  video_height: pixels,
  error: reason.optional().catch(undefined),
});

const cancelledSchema = z.looseObject({
  status: z.string().optional().catch(undefined),
  cost: z.number().nonnegative().optional().catch(undefined),
});

const retrievedSchema = z.looseObject({
  file: z.looseObject({ download_url: z.url({ protocol: /^https?$/ }) }),
});

/** A cloud video API: a task is submitted, polled until it ends, and its file retrieved. */
export function createCloudVideoBackend(options: CloudVideoOptions): Backend {
  const { name, prefix, apiKey, models, timeouts, tracing } = options;
  const control = createControlPlane({ prefix: prefix.href, apiKey, timeouts, tracing });

  const read = <Schema extends z.ZodType>(answer: ControlAnswer, schema: Schema) =>
    readVideoAnswer(answer, schema, apiKey);

  return {
    name,
    kind: 'cloud-video',
    capabilities: () => CAPABILITIES,
    async probe(signal) {
      await control.get('/query/video_generation', signal);
      if (models.length > 0) return { state: 'Healthy', models };
      return { state: 'Degraded', models, reason: 'it has no models to serve' };
    },
    async submitVideo(body, { idempotencyKey, signal }) {
      const headers = { 'idempotency-key': idempotencyKey };
      const answer = await control.post('/video_generation', videoTaskBody(body), {
        signal,
        headers,
      });
      return { taskId: read(answer, submittedSchema).task_id };
    },
    async cancelVideo(taskId, signal) {
      const body = { task_id: taskId };
      const answer = await control.post('/cancel/video_generation', body, { signal });
      const { status, cost } = read(answer, cancelledSchema);
      if (cost !== undefined) return { cost };
      return status === 'Success' ? 'everything' : 'nothing';
    },
    async queryVideo(taskId, signal) {
      const path = `/query/video_generation?task_id=${encodeURIComponent(taskId)}`;
      const task = taskOf(read(await control.get(path, signal), querySchema));
      return task.state === 'failed' ? { ...task, error: cleanMessage(task.error, apiKey) } : task;
    },
    async resolveVideo(fileId, signal) {
      const path = `/files/retrieve?file_id=${encodeURIComponent(fileId)}`;
      const { file } = read(await control.get(path, signal), retrievedSchema);
      return { url: file.download_url };
    },
    close: async () => undefined,
  };
}

function taskOf(task: z.output<typeof querySchema>): VideoTask {
  const { status, file_id, progress, video_width, video_height, error } = task;
  if (status === 'Fail') return { state: 'failed', error: error ?? 'the generation failed' };
  if (status !== 'Success') return { state: 'pending', progress };
  if (file_id === undefined || file_id === '') {
    throw new UpstreamFailure('the upstream named no file for a finished task', {
      isBackendAtFault: true,
      wasUnreadable: true,
    });
  }
  return { state: 'done', fileId: file_id, width: video_width, height: video_height };
}
