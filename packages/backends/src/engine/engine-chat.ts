import type { UpstreamCompletion, UpstreamChat } from '@model-gateway/contracts';
import type { Clock } from '@model-gateway/kernel';
import { UpstreamFailure, type ChatChunk } from '@model-gateway/router';
import { answerHead, createChunkShape, wholeChoice, type AnswerContext } from '../chunk-shape.ts';
import { assertOneAnswer } from '../errors/cannot-send.ts';
import { cleanMessage } from '../errors/upstream-error.ts';
import type { EngineChatChunk, EngineChatResult } from './engine-frames.ts';

/** A chat body for an engine: the method decides whether it is streamed. */
export function engineChat(body: UpstreamChat): object {
  assertOneAnswer('engine', body['n']);
  return { ...body, stream: undefined, stream_options: undefined };
}

/** A whole answer in the form of the chat-completions convention. */
export function engineCompletion(
  { message, finish_reason, usage }: EngineChatResult,
  model: string,
  clock: Clock,
): UpstreamCompletion {
  return {
    ...answerHead(clock),
    object: 'chat.completion',
    model,
    choices: [wholeChoice(message, { finish_reason: finish_reason ?? 'stop' })],
    usage,
  };
}

/** A streamed response in that form; the last chunk has the usage, if it is known. */
export async function* engineChunks(
  frames: AsyncIterable<EngineChatChunk>,
  { model, clock, secret }: AnswerContext,
): AsyncGenerator<ChatChunk, void, undefined> {
  const shape = createChunkShape(model, clock);
  let hasToolCalls = false;
  for await (const { delta, tool_calls, done, finish_reason, usage, error } of frames) {
    if (error !== undefined)
      throw brokenOff(typeof error === 'string' ? error : error.message, secret);
    hasToolCalls ||= tool_calls !== undefined && tool_calls.length > 0;
    const piece = {
      ...(delta === undefined || delta === '' ? {} : { content: delta }),
      ...(tool_calls === undefined || tool_calls.length === 0 ? {} : { tool_calls }),
    };
    if (Object.keys(piece).length > 0) yield shape.delta(piece);
    if (!done) continue;
    const reason = finish_reason ?? (hasToolCalls ? 'tool_calls' : 'stop');
    yield shape.delta({}, { finish_reason: reason });
    if (usage !== undefined) yield shape.usage(usage);
    return;
  }
}

const brokenOff = (message: string, secret: string | null): UpstreamFailure =>
  new UpstreamFailure(cleanMessage(message, secret), {
    isBackendAtFault: true,
    wasAnswered: true,
    // The message can quote the prompt.
    loggedAs: 'the engine sent an error in the middle of its answer',
  });
