import type { AnswerPart, UpstreamTurn } from '@model-gateway/contracts';
import type { AnswerWatch, UpstreamAnswer, UpstreamStream } from '@model-gateway/router';
import { eventsOfAnswer, RESPONSES_API } from '@model-gateway/dialects';
import { isFields } from '../fields.ts';
import { begunStream } from '../transport/answers/begun-stream.ts';
import type { AnswerMemory } from '../transport/answers/answer-memory.ts';
import { readSmallJson, readTextAnswer } from '../transport/answers/read-text.ts';
import type { UpstreamResponse } from '../transport/upstream-http.ts';
import { answerOfResponse, partsOfResponse } from './responses-answer.ts';
import { responsesBody } from './responses-request.ts';

/** Passes requests of clients of the Responses API to an upstream that speaks it. Undefined for those of other clients. */
export interface ResponsesUpstream {
  chat(
    turn: UpstreamTurn,
    signal: AbortSignal,
    watch?: AnswerWatch,
  ): Promise<UpstreamAnswer> | undefined;
  chatStream(
    turn: UpstreamTurn,
    signal: AbortSignal,
    watch?: AnswerWatch,
  ): Promise<UpstreamStream> | undefined;
}

interface ResponsesUpstreamOptions {
  /** Both reject if the upstream refuses the request. */
  readonly post: (body: object, signal: AbortSignal) => Promise<UpstreamResponse>;
  readonly postWhole: (
    body: object,
    signal: AbortSignal,
    watch: AnswerWatch | undefined,
  ) => Promise<string>;
  readonly contextOf: (model: string) => Parameters<typeof answerOfResponse>[1];
  readonly answerBytesMax: number;
  readonly answerMemory: AnswerMemory | undefined;
}

export function createResponsesUpstream(options: ResponsesUpstreamOptions): ResponsesUpstream {
  const { post, postWhole, contextOf, answerBytesMax, answerMemory: memory } = options;

  async function respond(
    model: string,
    body: object,
    signal: AbortSignal,
    watch: AnswerWatch | undefined,
  ): Promise<UpstreamAnswer> {
    const response = readSmallJson(await postWhole(body, signal, watch));
    const own = isFields(response) ? { api: RESPONSES_API, value: response } : undefined;
    return { answer: answerOfResponse(response, contextOf(model)), own };
  }

  async function stream(
    model: string,
    body: object,
    signal: AbortSignal,
    watch: AnswerWatch | undefined,
  ): Promise<UpstreamStream> {
    const { contentType, body: bytes } = await post(body, signal);
    const context = contextOf(model);
    if (contentType.startsWith('text/event-stream')) {
      const parts = partsOfResponse(bytes, context.secret, answerBytesMax);
      return { form: 'parts', parts: await begunStream(parts) };
    }
    // An upstream that ignored `stream`: the client gets events that the gateway writes.
    const limits = { bytesMax: answerBytesMax, memory, signal, watch };
    const response = readSmallJson(await readTextAnswer(bytes, limits));
    const answer = answerOfResponse(response, context);
    return {
      form: 'parts',
      parts: onePart({ events: eventsOfAnswer(answer), model: answer.model }),
    };
  }

  return {
    chat(turn, signal, watch) {
      const passed = responsesBody(turn, { stream: false });
      return passed && respond(turn.model, passed, signal, watch);
    },
    chatStream(turn, signal, watch) {
      const passed = responsesBody(turn, { stream: true });
      return passed && stream(turn.model, passed, signal, watch);
    },
  };
}

async function* onePart(part: AnswerPart): AsyncGenerator<AnswerPart> {
  yield part;
}
