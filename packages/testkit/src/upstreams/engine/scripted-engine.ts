import { setTimeout as pause } from 'node:timers/promises';
import { createChanges } from '../recording/changes.ts';
import { createFaultPlan } from '../faults/fault-plan.ts';
import { extend } from '../wire/extend.ts';
import type { RpcFault } from '../faults/rpc-faults.ts';
import { RpcMethodError, type RpcMethod } from '../wire/json-rpc-call.ts';
import { startJsonRpcServer, type RunningRpcServer } from '../wire/json-rpc-server.ts';

/** What an engine answers to a chat. */
interface EngineScript {
  /** The result of a whole answer. */
  readonly result: object;
  /** The chunks of a stream; the last one has `done`. */
  readonly chunks: readonly object[];
}

/** An engine that answers chats as a test says. Its frames are what it was sent. */
interface ScriptedEngine extends RunningRpcServer {
  answer(script: EngineScript): void;
  /** The next chats are errors. */
  answerError(message: string): void;
  /** Answers the next chats this late. */
  answerAfter(milliseconds: number): void;
}

type Method = 'Engine.Handshake' | 'Engine.Models' | 'Engine.Chat' | 'Engine.ChatStart';

export async function startScriptedEngine(models: readonly string[]): Promise<ScriptedEngine> {
  const changes = createChanges();
  let chats = 0;
  let answerAfterMs = 0;
  let read: () => EngineScript = () => ({ result: {}, chunks: [] });
  const methods: Record<Method, RpcMethod<RpcFault>> = {
    'Engine.Handshake': () => ({
      engine: { name: 'scripted', version: '1.0.0' },
      capabilities: ['chat'],
      models,
    }),
    'Engine.Models': () => ({ models }),
    async 'Engine.Chat'() {
      await pause(answerAfterMs);
      return read().result;
    },
    'Engine.ChatStart'({ connection, afterAnswer }) {
      const { chunks } = read();
      const chat_id = `chat-${(chats += 1)}`;
      afterAnswer(() => {
        setTimeout(() => {
          for (const chunk of chunks) connection.notify('Engine.ChatChunk', { chat_id, ...chunk });
        }, answerAfterMs);
      });
      return { chat_id };
    },
  };
  const server = await startJsonRpcServer(
    {},
    { methods, faults: createFaultPlan<RpcFault, Method>([]), changes },
  );
  return extend(server, {
    answer(script: EngineScript) {
      read = () => script;
    },
    answerError(message: string) {
      read = () => {
        throw new RpcMethodError(message);
      };
    },
    answerAfter(milliseconds: number) {
      answerAfterMs = milliseconds;
    },
  });
}
