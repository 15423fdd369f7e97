import { ServiceError } from '@model-gateway/contracts';
import {
  acceptChat,
  produceChat,
  readyTurn,
  type ChatDependencies,
  type ChatTurn,
  type MemoryState,
  type ReadyTurn,
} from '@model-gateway/inference';
import {
  createCanceller,
  randomToken,
  type Canceller,
  type Log,
  type Metrics,
} from '@model-gateway/kernel';
import type { Route } from '@model-gateway/router';
import { toRpcError } from '../protocol/rpc-error.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { createChatNotifications, type ChatNotifications } from './chat-notifications.ts';
import { createStreamOutput, LATE_LISTENER_MS, type StreamOutput } from './stream-output.ts';

/** Chat turns that are generated in the background, onto notification streams. */
export interface ChatStreams {
  /** Resolves when the turn is accepted, and rejects with what the caller is to be told when it cannot be. */
  begin(turn: Omit<ChatTurn, 'signal'>): Promise<BegunStream>;
  /** Whether a stream of this process has not ended. */
  isRunning(streamId: string): boolean;
  /** From now on turns have a limited time to finish. */
  drain(): void;
  /** Waits for them; those that do not finish in time fail. */
  stop(): Promise<void>;
}

export interface BegunStream {
  readonly streamId: string;
  readonly memory: MemoryState;
}

interface ChatStreamsDependencies extends ChatDependencies {
  readonly sessions: Pick<Sessions, 'own' | 'push' | 'onListener'>;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly drainMs?: number;
}

interface Running {
  readonly userId: string;
  readonly canceller: Canceller;
  readonly output: StreamOutput;
  readonly ended: Promise<void>;
}

/** A second less than connections are given, so that whoever listens here is told. */
const DRAIN_MS = 29_000;
const STREAMS_MAX = 2_000;
const STREAMS_PER_USER_MAX = 500;
/** With so many at once nobody is quick, and connections take their time too. */
const STREAMS_BUSY = 32;
const LATE_LISTENER_BUSY_MS = 10_000;
const STOPPED = {
  code: -32_000,
  message: 'the service stopped before the answer was complete',
};

export function createChatStreams(dependencies: ChatStreamsDependencies): ChatStreams {
  const { sessions, metrics, log, drainMs = DRAIN_MS } = dependencies;
  const running = new Map<string, Running>();
  let deadline: NodeJS.Timeout | undefined;
  metrics.gauge({
    name: 'service_rpc_chat_streams',
    help: 'Chat turns that are being generated onto notification streams.',
    collect: (gauge) => gauge.set(running.size),
  });

  /** Never rejects. */
  async function generate(
    turn: ReadyTurn,
    route: Route,
    output: StreamOutput,
    notifications: ChatNotifications,
  ): Promise<void> {
    const pieces = produceChat(turn, route, dependencies);
    try {
      let piece = await pieces.next();
      for (; piece.done !== true; piece = await pieces.next()) {
        for (const delta of piece.value) {
          const crowded = output.push(notifications.delta(delta));
          if (crowded !== undefined) await crowded;
        }
      }
      await output.end(notifications.end(piece.value));
    } catch (error) {
      const { code, message } = turn.signal.aborted ? STOPPED : toRpcError(error, log);
      await output.end(notifications.failure({ code, message }));
    }
  }

  const lateListenerMs = (): number =>
    running.size > STREAMS_BUSY ? LATE_LISTENER_BUSY_MS : LATE_LISTENER_MS;

  function assertRoom(userId: string): void {
    if (running.size < STREAMS_PER_USER_MAX) return;
    const own = [...running.values()].filter((one) => one.userId === userId).length;
    if (running.size >= STREAMS_MAX || own >= STREAMS_PER_USER_MAX)
      throw new ServiceError('rate_limit_exceeded', 'too many answers are under way');
  }

  function drain(): void {
    for (const { output } of running.values()) output.hurry();
    deadline ??= setTimeout(() => {
      for (const { canceller } of running.values()) canceller.abort(new Error(STOPPED.message));
    }, drainMs);
  }

  return {
    async begin(asked) {
      const { userId } = asked.caller;
      assertRoom(userId);
      const streamId = randomToken();
      const canceller = createCanceller();
      const turn = await readyTurn({ ...asked, signal: canceller.cancel }, dependencies);
      await sessions.own(streamId, userId);
      const route = await acceptChat(turn, dependencies);
      const output = createStreamOutput(sessions, streamId, { lateListenerMs });
      if (deadline !== undefined) output.hurry();
      const notifications = createChatNotifications(streamId);
      const ended = generate(turn, route, output, notifications).finally(() =>
        running.delete(streamId),
      );
      running.set(streamId, { userId, canceller, output, ended });
      return { streamId, memory: turn.memory };
    },
    isRunning: (streamId) => running.has(streamId),
    drain,
    async stop() {
      drain();
      while (running.size > 0) await Promise.all([...running.values()].map(({ ended }) => ended));
      clearTimeout(deadline);
    },
  };
}
