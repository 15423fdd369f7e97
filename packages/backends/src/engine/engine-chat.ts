import type { AnswerPart, UpstreamCompletion, UpstreamChat } from '@model-gateway/contracts';
import { UpstreamFailure } from '@model-gateway/router';
import { chatParts } from '@model-gateway/dialects';
import { answerHead, type AnswerContext } from '../answer-head.ts';
import { createChunkShape, wholeChoice } from './chunk-shape.ts';
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
  { model, clock }: AnswerContext,
): UpstreamCompletion {
  return {
    ...answerHead(clock),
    object: 'chat.completion',
    model,
    choices: [wholeChoice(message, { finish_reason: finish_reason ?? 'stop' })],
    usage,
  };
}

/** A streamed response, whose pieces have that form; the last one has the usage, if it is known. */
export async function* engineParts(
  frames: AsyncIterable<EngineChatChunk>,
  { model, clock, secret }: AnswerContext & { readonly secret: string | null },
): AsyncGenerator<AnswerPart, void, undefined> {
  const shape = createChunkShape(model, clock);
  const partOf = chatParts();
  let hasToolCalls = false;
  for await (const { delta, tool_calls, done, finish_reason, usage, error } of frames) {
    if (error !== undefined)
      throw brokenOff(typeof error === 'string' ? error : error.message, secret);
    hasToolCalls ||= tool_calls !== undefined && tool_calls.length > 0;
    const piece = {
      ...(delta === undefined || delta === '' ? {} : { content: delta }),
      ...(tool_calls === undefined || tool_calls.length === 0 ? {} : { tool_calls }),
    };
    if (Object.keys(piece).length > 0) yield partOf(shape.delta(piece));
    if (!done) continue;
    const reason = finish_reason ?? (hasToolCalls ? 'tool_calls' : 'stop');
    yield partOf(shape.delta({}, { finish_reason: reason }));
    if (usage !== undefined) yield partOf(shape.usage(usage));
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
