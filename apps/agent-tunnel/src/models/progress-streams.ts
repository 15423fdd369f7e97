import { SESSION_LISTENERS_CHANNEL } from '@model-gateway/contracts';
import type { Channels, Log, Subscription } from '@model-gateway/kernel';
import {
  createDeployNotices,
  failureNotices,
  type DeployNotice,
  type DeployNotices,
} from '@model-gateway/router';

/** The notification streams of deployments; the first notifications wait a moment for a listener. */
export interface ProgressStreams extends DeployNotices {
  /** Opens a stream: its notifications wait for a listener. */
  open(streamId: string): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface ProgressStreamsDependencies {
  readonly channels: Channels;
  readonly log: Log;
}

/** A client that subscribes within this time after the response misses nothing. On a busy machine that takes seconds. */
const LISTENER_WAIT_MS = 10_000;
const WAITING_NOTICES_MAX = 1_000;

export function createProgressStreams({
  channels,
  log,
}: ProgressStreamsDependencies): ProgressStreams {
  const notices = createDeployNotices({ channels, log });
  /** The notifications that wait for a listener, by stream. */
  const buffered = new Map<
    string,
    { readonly queue: DeployNotice[]; readonly timer: NodeJS.Timeout }
  >();
  const publishing = new Set<Promise<void>>();
  let subscription: Subscription | undefined;

  function publish(notice: DeployNotice): Promise<void> {
    // Channels keep the order of messages that are published without waiting.
    const published = notices.push(notice).finally(() => publishing.delete(published));
    publishing.add(published);
    return published;
  }

  function release(streamId: string): void {
    const waiting = buffered.get(streamId);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    buffered.delete(streamId);
    for (const notice of waiting.queue) void publish(notice);
  }

  async function push(notice: DeployNotice): Promise<void> {
    const waiting = buffered.get(notice.stream_id);
    if (waiting === undefined) await publish(notice);
    else if (waiting.queue.push(notice) >= WAITING_NOTICES_MAX) release(notice.stream_id);
  }

  return {
    open(streamId) {
      const timer = setTimeout(() => release(streamId), LISTENER_WAIT_MS);
      buffered.set(streamId, { queue: [], timer });
    },
    push,
    async fail(deploy, message) {
      await Promise.all(failureNotices(deploy, message).map(push));
    },
    async start() {
      subscription = await channels.subscribe(SESSION_LISTENERS_CHANNEL, release);
    },
    async stop() {
      for (const streamId of buffered.keys()) release(streamId);
      await Promise.all(publishing);
      await subscription?.close();
    },
  };
}
