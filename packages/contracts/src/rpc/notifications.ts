import { z } from 'zod';
import { tokenUsageSchema } from '../rest/chat.ts';
import { videoResult } from './records.ts';

/** One kind of notification, declared once, like a method. */
interface NotificationContract<Params extends z.ZodType = z.ZodType> {
  /** One line for the reference. */
  readonly summary: string;
  /** The methods that start what it tells of. */
  readonly emittedBy: readonly string[];
  readonly params: Params;
}

const notification = <Params extends z.ZodType>(
  contract: NotificationContract<Params>,
): NotificationContract<Params> => contract;

const RUNNING_PROGRESS_MAX = 99;
const PROGRESS_MAX = 100;

const streamId = z.string();
const bytes = z.int().nonnegative();
const videoJob = z.object({ job_id: z.uuid(), stream_id: streamId });

/** A piece of the answer. */
const chatDelta = z.object({
  stream_id: streamId,
  token: z.string(),
  is_complete: z.literal(false),
  tool_calls: z.array(z.unknown()).optional(),
});

/** The end of an answer. */
const chatEnd = z.object({
  stream_id: streamId,
  token: z.literal(''),
  is_complete: z.literal(true),
  finish_reason: z.string().nullable(),
  usage: tokenUsageSchema,
  model: z.string(),
  message_id: z.uuid().optional(),
});

/** The end of a stream that failed; the token says so to clients that only print tokens. */
const chatFailure = z.object({
  stream_id: streamId,
  token: z.string(),
  is_complete: z.literal(true),
  error: z.object({ code: z.int(), message: z.string() }),
});

/** Every notification of the event stream, by name. */
export const rpcNotifications = {
  'chat.stream': notification({
    summary: 'A piece of the answer; the last one says how it ended, or that it failed.',
    emittedBy: ['chat.send'],
    params: z.union([chatDelta, chatEnd, chatFailure]),
  }),
  'models.progress': notification({
    summary: 'How far the deployment of a model on a GPU node is.',
    emittedBy: ['agents.deploy'],
    params: z.object({
      stream_id: streamId,
      agent_id: z.uuid(),
      model_id: z.string(),
      status: z.enum(['pulling', 'loading', 'ready', 'failed']),
      progress: z.number().min(0).max(PROGRESS_MAX),
      downloaded_bytes: bytes.optional(),
      total_bytes: bytes.optional(),
      message: z.string().optional(),
    }),
  }),
  'realtime.event': notification({
    summary: 'What the upstream of a realtime session said, untouched.',
    emittedBy: ['realtime.start'],
    params: z.object({ session_id: z.string(), event: z.unknown() }),
  }),
  'video.progress': notification({
    summary: 'How far a video job is.',
    emittedBy: ['video.create'],
    params: videoJob.extend({
      status: z.literal('running'),
      progress: z.number().min(0).max(RUNNING_PROGRESS_MAX),
    }),
  }),
  'video.done': notification({
    summary: 'A video job is done.',
    emittedBy: ['video.create'],
    params: videoJob.extend({
      status: z.literal('done'),
      progress: z.literal(PROGRESS_MAX),
      result: videoResult,
      cost: z.number(),
    }),
  }),
  'video.failed': notification({
    summary: 'A video job failed or was cancelled.',
    emittedBy: ['video.create'],
    params: videoJob.extend({ status: z.enum(['failed', 'cancelled']), error: z.string() }),
  }),
};

export type RpcNotificationName = keyof typeof rpcNotifications;

/** What a notification carries. */
export type RpcNotificationParams<Name extends RpcNotificationName> = z.output<
  (typeof rpcNotifications)[Name]['params']
>;

/** A notification as it travels; `method` tells the kinds apart. */
export type RpcNotification = {
  [Name in RpcNotificationName]: {
    readonly jsonrpc: '2.0';
    readonly method: Name;
    readonly params: RpcNotificationParams<Name>;
  };
}[RpcNotificationName];
