import type { Outcome } from './agent-protocol.ts';

/** Calls to a node that wait for its response. */
export interface AgentCalls {
  /** Rejects with a NodeError when the node returns an error, disconnects, or does not respond in time. */
  call(method: string, params: unknown, options: CallOptions): Promise<unknown>;
  /** False when no call with this id was ever made. */
  settle(id: number, outcome: Outcome): boolean;
  /** Rejects every call because the node has disconnected. */
  close(reason: string): void;
}

interface CallOptions {
  readonly timeoutMs: number;
  /** The error message when the call times out. */
  readonly timeoutMessage: string;
  /** Receives a function that restarts the timeout. */
  readonly onStarted?: (restartTimeout: () => void) => void;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

/** A node could not do what it was asked to; the message is for the caller. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export function createAgentCalls(send: (text: string) => void): AgentCalls {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let closedFor: string | undefined;

  return {
    call(method, params, { timeoutMs, timeoutMessage, onStarted, signal }) {
      if (closedFor !== undefined) return Promise.reject(new NodeError(closedFor));
      if (signal?.aborted === true) return Promise.reject(new NodeError(reasonOf(signal)));
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => end(() => reject(new NodeError(timeoutMessage))), timeoutMs);
        const onAbort = (): void => end(() => reject(new NodeError(reasonOf(signal))));
        function end(finish: () => void): void {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          waiting.delete(id);
          finish();
        }
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.set(id, {
          resolve: (result) => end(() => resolve(result)),
          reject: (error) => end(() => reject(error)),
        });
        onStarted?.(() => void timer.refresh());
        send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      });
    },
    settle(id, outcome) {
      const call = waiting.get(id);
      if (call === undefined) return id <= lastId && id > 0;
      if (outcome.ok) call.resolve(outcome.result);
      else call.reject(new NodeError(outcome.message));
      return true;
    },
    close(reason) {
      closedFor = reason;
      for (const { reject } of waiting.values()) reject(new NodeError(reason));
    },
  };
}

const reasonOf = (signal: AbortSignal | undefined): string =>
  typeof signal?.reason === 'string' ? signal.reason : 'the call was cancelled';
