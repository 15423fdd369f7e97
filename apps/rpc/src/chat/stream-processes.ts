import {
  describeError,
  isUnreachable,
  randomToken,
  type Entries,
  type Log,
  type Requests,
} from '@model-gateway/kernel';
import { z } from 'zod';

/** Knows which process each stream runs on, to stop it from any other, and to tell whether that process has ended. */
export interface StreamProcesses {
  /** Makes a stream of this process reachable from all. Never rejects. */
  add(streamId: string): Promise<void>;
  /** The stream has ended. */
  remove(streamId: string): void;
  /** Whether the user had such a stream, and it was stopped. */
  stop(userId: string, streamId: string): Promise<boolean>;
  /** Whether the process of a stream has ended before the stream. Never rejects; false where it cannot be known. */
  isLost(streamId: string): Promise<boolean>;
  close(): Promise<void>;
}

interface StreamProcessesDependencies {
  readonly calls: Requests;
  /** Stores the process of each stream. */
  readonly entries: Pick<Entries, 'get' | 'put' | 'remove'>;
  readonly log: Log;
  /** Whether this process runs the stream. */
  readonly isHere: (streamId: string) => boolean;
  /** Stops a stream of this process; false where the user has no such stream. */
  readonly stopHere: (userId: string, streamId: string) => boolean;
}

/** Without a user the request only shows that the process is there. */
const requestSchema = z.object({ userId: z.string().optional(), streamId: z.string() });

/** So that a call about a stream of a stopped process returns within a second. */
const REPLY_TIMEOUT_MS = 700;
/** Longer than any stream lasts. */
const EXPIRES_AFTER_MS = 24 * 60 * 60 * 1000;

export function createStreamProcesses(dependencies: StreamProcessesDependencies): StreamProcesses {
  const { calls, entries, log, isHere, stopHere } = dependencies;
  const processId = randomToken();
  let serving: ReturnType<Requests['serve']> | undefined;

  /** With the first stream; a failure is tried again with the next. */
  async function serve(): Promise<void> {
    serving ??= calls.serve(addressOf(processId), async (payload) => {
      const { userId, streamId } = requestSchema.parse(payload);
      return userId === undefined ? isHere(streamId) : stopHere(userId, streamId);
    });
    try {
      await serving;
    } catch (error) {
      serving = undefined;
      throw error;
    }
  }

  const warn = (error: unknown): void =>
    log.warn({ reason: describeError(error) }, 'storing the process of a chat stream failed');

  return {
    async add(streamId) {
      const stored = entries.put(keyOf(streamId), processId, { expiresAfterMs: EXPIRES_AFTER_MS });
      await Promise.all([serve(), stored]).catch(warn);
    },
    remove: (streamId) => void entries.remove(keyOf(streamId)).catch(warn),
    async stop(userId, streamId) {
      if (isHere(streamId)) return stopHere(userId, streamId);
      const owner = await entries.get(keyOf(streamId)).catch(() => undefined);
      if (owner === undefined) return false;
      // A process that does not reply has stopped, and its streams with it.
      const reply = await calls
        .call(addressOf(owner), { userId, streamId }, { timeoutMs: REPLY_TIMEOUT_MS })
        .catch(() => false);
      return reply === true;
    },
    async isLost(streamId) {
      if (isHere(streamId)) return false;
      const owner = await entries.get(keyOf(streamId)).catch(() => undefined);
      if (owner === undefined) return false;
      return calls
        .call(addressOf(owner), { streamId }, { timeoutMs: REPLY_TIMEOUT_MS })
        .then(() => false, isUnreachable);
    },
    async close() {
      await (await serving?.catch(() => undefined))?.close();
    },
  };
}

const keyOf = (streamId: string): string => `chat-stream-process:${streamId}`;
const addressOf = (processId: string): string => `chat-streams:${processId}`;
