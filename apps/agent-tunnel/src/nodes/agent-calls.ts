import { createPendingCalls, serializeMessage } from '@model-gateway/json-rpc';
import { raceAbort } from '@model-gateway/kernel';
import type { AgentResponse } from './agent-protocol.ts';

/** Calls to a node that wait for its response. */
export interface AgentCalls {
  /** Rejects with a NodeError when the node returns an error or disconnects, or when the signal is aborted. */
  call(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** False when no call with this id was ever made. */
  settle(id: number, outcome: AgentResponse): boolean;
  /** Rejects every call because the node has disconnected. */
  close(reason: string): void;
}

/** A node could not do what it was asked to; the message is for the caller. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
}

export function createAgentCalls(send: (text: string) => void): AgentCalls {
  const calls = createPendingCalls<number, AgentResponse>();
  let lastId = 0;
  let closedFor: string | undefined;

  return {
    async call(method, params, signal) {
      if (closedFor !== undefined) throw new NodeError(closedFor);
      if (signal.aborted) throw cancelled(signal);
      lastId += 1;
      const id = lastId;
      send(serializeMessage({ id, method, params }));
      const response = calls.add(id, resultOf);
      return raceAbort(response, signal, cancelled).finally(() => calls.fail(id, undefined));
    },
    settle: (id, outcome) => calls.settle(id, outcome) || (id <= lastId && id > 0),
    close(reason) {
      closedFor = reason;
      calls.failAll(new NodeError(reason));
    },
  };
}

function resultOf(outcome: AgentResponse): unknown {
  if (outcome.ok) return outcome.result;
  throw new NodeError(outcome.message);
}

const cancelled = ({ reason }: AbortSignal): NodeError =>
  new NodeError(typeof reason === 'string' ? reason : 'the call was cancelled');
