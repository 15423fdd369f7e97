import { untilAborted } from '@model-gateway/kernel';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  argumentPieces,
  asText,
  composeAnswer,
  countCompletionTokens,
  readChatRequest,
  type Answer,
  type AnswerText,
  type JsonObject,
} from '@model-gateway/demo-model/answers';
import { faultOf } from '../faults/fault-plan.ts';
import type { Served, ServedLog } from '../recording/served-log.ts';
import { RpcMethodError, type RpcCall, type RpcConnection } from '../wire/json-rpc-call.ts';
import type { EngineFault } from './engine-faults.ts';

interface EngineChatsOptions {
  readonly tokenDelayMs?: number;
  readonly answer?: AnswerText;
  readonly log: ServedLog;
}

interface Stream {
  readonly chatId: string;
  readonly model: string;
  readonly answer: Answer;
  readonly connection: RpcConnection;
  readonly faults: readonly EngineFault[];
  readonly cancelled: AbortSignal;
}

type Outcome = Pick<Served, 'completionTokens' | 'completed'>;

/** The chats of an engine: complete ones, and streams that can be cancelled. */
export interface EngineChats {
  chat(this: void, call: RpcCall<EngineFault>): unknown;
  start(this: void, call: RpcCall<EngineFault>): unknown;
  cancel(this: void, call: RpcCall<EngineFault>): unknown;
  readonly aborted: number;
}

const INVALID_PARAMS = -32_602;

export function createEngineChats(options: EngineChatsOptions): EngineChats {
  const { log, tokenDelayMs = 0 } = options;
  const running = new Map<string, AbortController>();
  let aborted = 0;

  function answerTo({ params }: RpcCall<EngineFault>): { model: string; answer: Answer } {
    const request = readChatRequest(params);
    if (typeof request === 'string') throw new RpcMethodError(request, INVALID_PARAMS);
    // The protocol of engines has no reasoning.
    const answer = composeAnswer({ ...request, isReasoning: false }, options.answer);
    return { model: request.model, answer };
  }
  function record(stream: Pick<Stream, 'chatId' | 'model' | 'answer'>, outcome: Outcome): void {
    const { chatId: id, model, answer } = stream;
    const { promptTokens } = answer;
    log.record({ id, requestId: undefined, model, promptTokens, ...outcome });
  }

  async function send(stream: Stream): Promise<Outcome> {
    const { connection, faults } = stream;
    const ended = AbortSignal.any([stream.cancelled, connection.closed]);
    const cutAfter = faultOf(faults, 'cut')?.afterChunks;
    const stallAfter = faultOf(faults, 'stall')?.afterChunks;
    const garbageAfter = faultOf(faults, 'garbage-chunk')?.afterChunks;
    let tokens = 0;
    for (const chunk of chunksOf(stream)) {
      if (tokens === cutAfter) {
        connection.terminate();
        return { completionTokens: tokens, completed: false };
      }
      if (tokens === garbageAfter) connection.sendText('{"jsonrpc": "2.');
      if (tokens === stallAfter) await untilAborted(ended);
      if (tokenDelayMs > 0 && tokens > 0) {
        await pause(tokenDelayMs, undefined, { signal: ended }).catch(() => undefined);
      }
      if (ended.aborted) {
        aborted += 1;
        return { completionTokens: tokens, completed: false };
      }
      connection.notify('Engine.ChatChunk', { chat_id: stream.chatId, ...chunk });
      if (chunk.done !== true) tokens += 1;
    }
    return { completionTokens: tokens, completed: true };
  }

  async function run(stream: Stream): Promise<void> {
    const outcome = await send(stream);
    running.delete(stream.chatId);
    record(stream, outcome);
  }

  return {
    chat(call) {
      const { model, answer } = answerTo(call);
      const completionTokens = countCompletionTokens(answer);
      record({ chatId: randomUUID(), model, answer }, { completionTokens, completed: true });
      const calls = answer.toolCalls.map((toolCall) => ({
        id: toolCall.id,
        type: 'function',
        function: { name: toolCall.name, arguments: toolCall.arguments },
      }));
      const content = calls.length > 0 ? null : answer.tokens.join('');
      return {
        message: { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
        finish_reason: answer.finishReason,
        ...usageFields(call.faults, answer),
      };
    },
    start(call) {
      const { model, answer } = answerTo(call);
      const chatId = randomUUID();
      const controller = new AbortController();
      running.set(chatId, controller);
      const { connection, faults } = call;
      const stream = { chatId, model, answer, connection, faults, cancelled: controller.signal };
      call.afterAnswer(() => void run(stream));
      return { chat_id: chatId };
    },
    cancel({ params }) {
      const controller = running.get(asText(params.chat_id) ?? '');
      controller?.abort();
      return { cancelled: controller !== undefined };
    },
    get aborted() {
      return aborted;
    },
  };
}

/** One chunk per token, and a last one with the finish reason and the usage. Tool calls are split as in a chat stream. */
function* chunksOf({ answer, faults }: Stream): Generator<JsonObject> {
  for (const token of answer.tokens) yield { delta: token, done: false };
  for (const [index, call] of answer.toolCalls.entries()) {
    const head = { id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    yield { delta: '', tool_calls: [{ index, ...head }], done: false };
    for (const piece of argumentPieces(call)) {
      yield { delta: '', tool_calls: [{ index, function: { arguments: piece } }], done: false };
    }
  }
  const end = { finish_reason: answer.finishReason, ...usageFields(faults, answer) };
  yield { delta: '', done: true, ...end };
}

function usageFields(faults: readonly EngineFault[], answer: Answer): JsonObject {
  if (faultOf(faults, 'no-usage') !== undefined) return {};
  const prompt = answer.promptTokens;
  const completion = countCompletionTokens(answer);
  return {
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    },
  };
}
