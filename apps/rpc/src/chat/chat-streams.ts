import { ServiceError, type ChatMessage, type ChatRequest } from '@model-gateway/contracts';
import {
  ChatTurn,
  deltasOf,
  runCall,
  streamTurn,
  type AdmittedCall,
  type CallBodies,
  type CallContext,
  type CallServices,
  type Hook,
  type KeepBodies,
  type MemoryState,
  type RunContext,
  type TurnServices,
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
import { createChatNotifications, type ChatFailure } from './chat-notifications.ts';
import { createStreamOutput, type StreamOutput } from './stream-output.ts';
import { createStreamProcesses } from './stream-processes.ts';

/** Chat turns that run in the background and publish to notification streams. */
export interface ChatStreams {
  /** Resolves when the turn is accepted; rejects with the error for the caller. */
  begin(
    context: CallContext,
    admitting: Promise<AdmittedCall<AskedTurn>>,
    options: TurnOptions,
  ): Promise<StartedStream>;
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

interface AskedTurn extends ChatRequest {
  /** The messages of its conversation before it. */
  readonly history: readonly ChatMessage[];
}

/** A turn that is not accepted has not begun: neither of the listeners is called. */
interface TurnOptions {
  /** Without its history. */
  readonly request: ChatRequest;
  readonly conversationId: string | undefined;
  /** Called when the turn has ended and its memory is free. */
  readonly onEnd: () => void;
  readonly onFailure: (error: unknown) => void;
}

export interface StartedStream {
  readonly stream_id: string;
  readonly memory: MemoryState;
}

interface ChatStreamsDependencies extends CallServices, TurnServices {
  readonly hooks: readonly Hook[];
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

/** A stream whose turn is not accepted yet. */
interface OpenedStream {
  readonly streamId: string;
  /** Begins the output for a turn that is accepted; the caller learns of it when its messages are stored. */
  readonly accept: (userId: string, memory: MemoryState, stored: Promise<unknown>) => StreamOutput;
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
  const { hooks, sessions, calls, entries, metrics, log, drainMs = DRAIN_MS } = dependencies;
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

  /** Resolves to the last notification; rejects if the turn is not accepted. */
  async function generate(
    call: RunContext,
    admitting: Promise<AdmittedCall<AskedTurn>>,
    { request, conversationId, onFailure }: TurnOptions,
    { streamId, accept }: OpenedStream,
  ): Promise<string> {
    const notifications = createChatNotifications(streamId);
    const { log: callLog, signal } = call;
    let kept: CallBodies | undefined;
    let output: StreamOutput | undefined;
    /** Resolves when the caller learns of the stream: until then its notifications would be for nobody. */
    let told: Promise<unknown> | undefined;
    try {
      let last = '';
      await runCall(call, admitting, dependencies, async (admitted) => {
        assertBelowLimit();
        const { userId } = admitted.caller;
        const { history } = admitted.body;
        const conversation =
          conversationId === undefined ? undefined : { id: conversationId, history };
        const turn = await ChatTurn.ofChat(admitted, request, conversation, hooks);
        await Promise.all([sessions.setOwner(streamId, userId), processes.add(streamId)]);
        const streamed = await streamTurn(turn, dependencies, {
          passesEvents: false,
          onAccepted(stored) {
            told = stored.catch((error: unknown) => log.error({ error }, 'a hook failed'));
            output = accept(userId, turn.memory, told);
            kept = dependencies.keepBodies?.({ ...callLog, model: request.model });
            kept?.request(JSON.stringify(request));
          },
        });
        const end = await streamed.deliver(async (portion) => {
          if (Buffer.isBuffer(portion)) return;
          await told;
          for (const delta of portion.flatMap(deltasOf)) {
            kept?.answer(delta.token);
            const drained = output?.push(notifications.delta(delta));
            if (drained !== undefined) await drained;
          }
        });
        if (end === undefined) throw new Error('the turn was stopped');
        if ('failure' in end) throw end.failure;
        last = notifications.end(end);
      });
      return last;
    } catch (error) {
      if (output === undefined) throw error;
      const reason: unknown = signal.reason;
      const failure = reason instanceof TurnStopped ? reason.failure : toRpcError(error, log);
      // A turn that its user stopped has not failed.
      if (failure !== CANCELLED) onFailure(error);
      return notifications.failure(failure);
    } finally {
      kept?.end();
      await told;
    }
  }

  function assertBelowLimit(): void {
    if (running.size < STREAMS_MAX) return;
    throw new ServiceError(
      'rate_limit_exceeded',
      `too many chat streams are in progress: at most ${STREAMS_MAX} in each process. Try again later`,
    );
  }

  function begin(
    context: CallContext,
    admitting: Promise<AdmittedCall<AskedTurn>>,
    options: TurnOptions,
  ): Promise<StartedStream> {
    return new Promise((resolve, reject) => {
      const streamId = randomToken();
      const controller = new AbortController();
      let output: StreamOutput | undefined;
      const accept: OpenedStream['accept'] = (userId, memory, stored) => {
        output = createStreamOutput(sessions, streamId);
        if (deadline !== undefined) output.skipListenerWait();
        running.set(streamId, { userId, controller, output, ended });
        void stored.then(() => resolve({ stream_id: streamId, memory }));
        return output;
      };
      const call = { ...context, signal: controller.signal };
      const ended = generate(call, admitting, options, { streamId, accept })
        .then((last) => output?.end(last))
        .catch((error: unknown) => {
          // Without the removal, the entry of the owner expires.
          void sessions.removeOwner(streamId).catch(() => undefined);
          reject(error instanceof Error ? error : new Error('the turn failed', { cause: error }));
        })
        .finally(() => {
          running.delete(streamId);
          processes.remove(streamId);
          if (output !== undefined) options.onEnd();
        });
    });
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
    begin,
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
