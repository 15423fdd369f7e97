import type { MemoryService } from '@model-gateway/inference';
import { describeError, raceAbort, type Clock, type Log } from '@model-gateway/kernel';
import { boundedCall } from '../transport/bounded-call.ts';
import { aborted, RpcRefusal } from '../json-rpc/rpc-failures.ts';
import { openRpcSocket } from '../json-rpc/rpc-socket.ts';
import { deletedSchema, readAnswer, recalledSchema, writtenSchema } from './memory-answers.ts';
import { MemoryFailure } from './memory-failure.ts';
import { createMemoryLink } from './memory-link.ts';
import { createOutage } from './outage.ts';

interface MemoryClientOptions {
  readonly url: string;
  readonly token: string | undefined;
  /** How long a call may take, including the connection. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

const FIRST_PAUSE_MS = 250;
const PAUSE_MS_MAX = 10_000;
const WARN_EVERY_MS = 10_000;

/**
 * The memory service over JSON-RPC on one WebSocket. After a failed connection, or a time without any response to a recall,
 * calls pause for a time that grows with every further failure.
 */
export function createMemoryClient({
  url,
  token,
  timeoutMs,
  clock,
  log,
}: MemoryClientOptions): MemoryService {
  const closing = new AbortController();
  const outage = createOutage(clock, { firstPauseMs: FIRST_PAUSE_MS, pauseMsMax: PAUSE_MS_MAX });
  const link = createMemoryLink((onClosed) =>
    openRpcSocket({
      url,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      connectTimeoutMs: timeoutMs,
      onClosed,
    }),
  );
  let recallsAnswered = 0;
  let quietUntil = 0;

  function warn(method: string, { message, cause }: MemoryFailure): void {
    if (clock.now() < quietUntil || closing.signal.aborted) return;
    quietUntil = clock.now() + WARN_EVERY_MS;
    const reason = describeError(cause);
    log.warn({ method, failure: message, reason }, 'a call to the memory service failed');
  }

  async function call<Result>(
    method: string,
    params: object,
    read: (result: unknown) => Result,
  ): Promise<Result> {
    if (closing.signal.aborted || outage.isPaused) throw new MemoryFailure('unavailable');
    let isConnected = false;
    let isLate = false;
    try {
      return await boundedCall(timeoutMs, closing.signal, (bounded) => {
        bounded.addEventListener('abort', () => {
          isLate = !closing.signal.aborted;
        });
        return link.use(async (opening) => {
          const socket = await raceAbort(opening, bounded, aborted);
          isConnected = true;
          return socket.call(method, params, { signal: bounded, timeoutMs, read });
        });
      });
    } catch (error) {
      const failure = new MemoryFailure(kindOf(error, isConnected, isLate), error);
      warn(method, failure);
      if (!isConnected) outage.failed();
      throw failure;
    }
  }

  /** A turn waits for it, so it also detects an outage of the service. */
  async function recall(userId: string, query: string, countMax: number) {
    const leave = outage.tryCall();
    if (leave === undefined) throw new MemoryFailure('unavailable');
    const answeredBefore = recallsAnswered;
    try {
      const params = { user_id: userId, query, limit: countMax };
      const { nodes } = await call('Memory.Recall', params, readAnswer(recalledSchema));
      recallsAnswered += 1;
      outage.over();
      return nodes.map(({ node_id, text }) => ({ nodeId: node_id, text }));
    } catch (error) {
      const kind = error instanceof MemoryFailure ? error.kind : undefined;
      // One slow response among others is no outage.
      if (kind === 'timeout' && recallsAnswered === answeredBefore) outage.failed();
      if (kind === 'refused') outage.over();
      throw error;
    } finally {
      leave();
    }
  }

  return {
    recall,
    async write(userId, messages) {
      const params = { user_id: userId, messages };
      return (await call('Memory.Write', params, readAnswer(writtenSchema))).node_ids;
    },
    async delete(userId, nodeId) {
      const params = { user_id: userId, node_id: nodeId };
      return (await call('Memory.Delete', params, readAnswer(deletedSchema))).deleted;
    },
    close() {
      closing.abort(new Error('closed'));
      link.close();
    },
  };
}

function kindOf(error: unknown, isConnected: boolean, isLate: boolean): MemoryFailure['kind'] {
  if (!isConnected) return 'unreachable';
  if (isLate) return 'timeout';
  return error instanceof RpcRefusal ? 'refused' : 'invalid';
}
