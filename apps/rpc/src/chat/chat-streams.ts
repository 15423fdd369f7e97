import { ServiceError } from '@model-gateway/contracts';
import {
  acceptChat,
  prepareTurn,
  deltasOf,
  streamTurn,
  type AcceptedChat,
  type ChatDependencies,
  type ChatTurn,
  type KeepBodies,
  type MemoryState,
  type PreparedTurn,
} from '@model-gateway/inference';
import {
  randomToken,
  type Clock,
  type Entries,
  type Log,
  type Metrics,
  type Requests,
} from '@model-gateway/kernel';
import { toRpcError } from '../protocol/rpc-error.ts';
import type { Sessions } from '../sessions/sessions.ts';
import {
  createChatNotifications,
  type ChatFailure,
  type ChatNotifications,
} from './chat-notifications.ts';
import { createStreamOutput, type StreamOutput } from './stream-output.ts';
import { createStreamProcesses } from './stream-processes.ts';

/** Chat turns that run in the background and publish to notification streams. */
export interface ChatStreams {
  /** Resolves when the turn is accepted; rejects with the error for the caller. Ends the reservation of the turn. */
  begin(turn: RequestedTurn): Promise<StartedStream>;
  /** Aborts a turn of the user, on whichever process it runs. False if there is none, or it has ended. */
  cancel(userId: string, streamId: string): Promise<boolean>;
  /** Whether this process still runs the stream. */
  isRunning(streamId: string): boolean;
  /** The last notification of a stream whose process has ended before it; undefined for others. Never rejects. */
  endOfLost(streamId: string): Promise<string | undefined>;
  /** Starts the time limit for the turns in progress. */
  drain(): void;
  /** Waits for the turns in progress; those that exceed the limit fail. */
  stop(): Promise<void>;
}

/** A turn whose memory is free when it has ended; a turn that is not accepted has not begun. */
interface RequestedTurn extends Omit<ChatTurn, 'signal'> {
  readonly onEnd?: () => void;
  /** Called when the turn fails after it was accepted. */
  readonly onFailure?: (error: unknown) => void;
}

export interface StartedStream {
  readonly streamId: string;
  readonly memory: MemoryState;
}

interface ChatStreamsDependencies extends ChatDependencies {
  /** Undefined where the service keeps no bodies. */
  readonly keepBodies?: KeepBodies | undefined;
  readonly sessions: Pick<Sessions, 'setOwner' | 'removeOwner' | 'push' | 'onListener'>;
  /** Calls between processes. */
  readonly calls: Requests;
  readonly entries: Pick<Entries, 'get' | 'put' | 'remove'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly drainMs?: number;
}

interface RunningStream {
  readonly userId: string;
  readonly controller: AbortController;
  readonly output: StreamOutput;
  readonly ended: Promise<void>;
}

/** One second less than the time limit of connections, so that listeners still get the error. */
const DRAIN_MS = 29_000;
const STREAMS_MAX = 2_000;
const STOPPED = {
  code: -32_000,
  message: 'the service stopped before the response was complete',
};
const LOST = {
  code: -32_000,
  message: 'the process that generated the response ended before the response was complete',
};
const CANCELLED = { code: -32_000, message: 'the response was stopped by chat.stop' };
/** Why a turn was aborted, for its last notification. */
class TurnStopped extends Error {
  override readonly name = 'TurnStopped';
  readonly failure: ChatFailure;

  constructor(failure: ChatFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export function createChatStreams(dependencies: ChatStreamsDependencies): ChatStreams {
  const { sessions, calls, entries, metrics, log, drainMs = DRAIN_MS } = dependencies;
  const running = new Map<string, RunningStream>();
  let deadline: NodeJS.Timeout | undefined;
  const processes = createStreamProcesses({
    calls,
    entries,
    log,
    isHere: (streamId) => running.has(streamId),
    stopHere: cancelHere,
  });
  metrics.gauge({
    name: 'service_rpc_chat_streams',
    help: 'Chat turns in progress that publish to notification streams.',
    collect: (gauge) => gauge.set(running.size),
  });

  /** Never rejects. */
  async function generate(
    turn: PreparedTurn,
    accepted: AcceptedChat,
    output: StreamOutput,
    notifications: ChatNotifications,
    onFailure: RequestedTurn['onFailure'],
  ): Promise<void> {
    const { caller, request, trace } = turn;
    const kept = dependencies.keepBodies?.({ caller, trace, model: request.model });
    kept?.request(JSON.stringify(request));
    try {
      const options = { passesEvents: false, keepsReply: true, accepted };
      const streamed = await streamTurn(turn, dependencies, options);
      const end = await streamed.deliver(async (portion) => {
        if (Buffer.isBuffer(portion)) return;
        for (const delta of portion.flatMap(deltasOf)) {
          kept?.answer(delta.token);
          const drained = output.push(notifications.delta(delta));
          if (drained !== undefined) await drained;
        }
      });
      if (end === undefined) throw new Error('the turn was stopped');
      if ('failure' in end) throw end.failure;
      turn.reservation?.end();
      kept?.end();
      await output.end(notifications.end(end));
    } catch (error) {
      turn.reservation?.end();
      kept?.end();
      const reason: unknown = turn.signal.reason;
      const failure = reason instanceof TurnStopped ? reason.failure : toRpcError(error, log);
      // A turn that its user stopped has not failed.
      if (failure !== CANCELLED) onFailure?.(error);
      await output.end(notifications.failure(failure));
    }
  }

  function assertBelowLimit(): void {
    if (running.size < STREAMS_MAX) return;
    throw new ServiceError(
      'rate_limit_exceeded',
      `too many chat streams are in progress: at most ${STREAMS_MAX} in each process. Try again later`,
    );
  }

  async function begin({ onEnd, onFailure, ...request }: RequestedTurn): Promise<StartedStream> {
    assertBelowLimit();
    const streamId = randomToken();
    const controller = new AbortController();
    const turn = await prepareTurn({ ...request, signal: controller.signal }, dependencies);
    await Promise.all([
      sessions.setOwner(streamId, request.caller.userId),
      processes.add(streamId),
    ]);
    const accepted = await acceptChat(turn, dependencies).catch((error: unknown) => {
      processes.remove(streamId);
      // Without the removal, the entry of the owner expires.
      void sessions.removeOwner(streamId).catch(() => undefined);
      throw error;
    });
    const output = createStreamOutput(sessions, streamId);
    if (deadline !== undefined) output.skipListenerWait();
    const notifications = createChatNotifications(streamId);
    const ended = generate(turn, accepted, output, notifications, onFailure).finally(() => {
      running.delete(streamId);
      processes.remove(streamId);
      onEnd?.();
    });
    running.set(streamId, { userId: request.caller.userId, controller, output, ended });
    return { streamId, memory: turn.memory };
  }

  function cancelHere(userId: string, streamId: string): boolean {
    const stream = running.get(streamId);
    if (stream === undefined || stream.userId !== userId) return false;
    stream.output.skipListenerWait();
    stream.controller.abort(new TurnStopped(CANCELLED));
    return true;
  }

  function drain(): void {
    for (const { output } of running.values()) output.skipListenerWait();
    deadline ??= setTimeout(() => {
      for (const { controller } of running.values()) controller.abort(new TurnStopped(STOPPED));
    }, drainMs);
  }

  return {
    async begin(request) {
      try {
        return await begin(request);
      } catch (error) {
        request.reservation?.end();
        throw error;
      }
    },
    cancel: (userId, streamId) => processes.stop(userId, streamId),
    isRunning: (streamId) => running.has(streamId),
    async endOfLost(streamId) {
      if (!(await processes.isLost(streamId))) return undefined;
      return createChatNotifications(streamId).failure(LOST);
    },
    drain,
    async stop() {
      drain();
      while (running.size > 0) await Promise.all([...running.values()].map(({ ended }) => ended));
      clearTimeout(deadline);
      await processes.close();
    },
  };
}
