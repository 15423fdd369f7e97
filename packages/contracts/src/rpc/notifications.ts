import { z } from 'zod';
import { tokenUsageSchema } from '../rest/chat.ts';
import { videoResult } from './namespaces/records.ts';

/** One type of notification, declared once, like a method. */
interface NotificationContract<Params extends z.ZodType = z.ZodType> {
  /** One line for the reference. */
  readonly summary: string;
  /** The methods whose work it reports. */
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

/** A part of the reply. */
const chatDelta = z.object({
  stream_id: streamId,
  token: z.string(),
  is_complete: z.literal(false),
  tool_calls: z.array(z.unknown()).optional(),
});

/** The end of a reply. */
const chatEnd = z.object({
  stream_id: streamId,
  token: z.literal(''),
  is_complete: z.literal(true),
  finish_reason: z.string().nullable(),
  usage: tokenUsageSchema,
  model: z.string(),
  message_id: z.uuid().optional(),
});

/** The end of a failed stream; the token contains the error for clients that only print tokens. */
const chatFailure = z.object({
  stream_id: streamId,
  token: z.string(),
  is_complete: z.literal(true),
  error: z.object({
    code: z.int(),
    message: z.string(),
    /** The error of the upstream that caused this one, as `upstream`. */
    data: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** Every notification of the event stream, by name. */
export const rpcNotifications = {
  'chat.stream': notification({
    summary: 'A part of the reply; the last one contains the finish reason and usage, or an error.',
    emittedBy: ['chat.send'],
    params: z.union([chatDelta, chatEnd, chatFailure]),
  }),
  'models.progress': notification({
    summary: 'The progress of deploying a model on a GPU node.',
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
    summary: 'An event of the upstream of a realtime session, unchanged.',
    emittedBy: ['realtime.start'],
    params: z.object({ session_id: z.string(), event: z.unknown() }),
  }),
  'requests.changed': notification({
    summary: 'There are new requests in the log; `requests.list` has them. At most once a second.',
    emittedBy: ['requests.watch'],
    params: z.object({
      stream_id: streamId,
      /** How many since the last one. */
      added: z.int().positive(),
    }),
  }),
  'video.progress': notification({
    summary: 'The progress of a video job.',
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

/** A notification on the wire; `method` identifies its type. */
export type RpcNotification = {
  [Name in RpcNotificationName]: {
    readonly jsonrpc: '2.0';
    readonly method: Name;
    readonly params: RpcNotificationParams<Name>;
  };
}[RpcNotificationName];
