import { randomUUID } from 'node:crypto';
import {
  composeAnswer,
  countCompletionTokens,
  type Answer,
  type AnswerText,
} from '../answering/answer.ts';
import { readChatRequest } from '../answering/chat-request.ts';
import { jsonReply, STREAM, type Operation } from '../operations/operation.ts';
import { asObject } from '../wire/json.ts';
import { completionBody, completionChunks, type CompletionHead } from './completion-shapes.ts';

/** What a server may change of the answers. */
export interface ChatOptions {
  /** The text of an answer; by default it names the demo model and quotes the question. */
  readonly textOf?: AnswerText | undefined;
  readonly edit?: (answer: Answer) => Answer;
  /** Whether a stream ends with its marker; yes by default. */
  readonly done?: boolean;
}

/** Answers chat requests, streamed or not. */
export const createChat =
  ({ textOf, edit = (answer) => answer, done = true }: ChatOptions = {}): Operation =>
  ({ body, withUsage }) => {
    const request = readChatRequest(body);
    if (typeof request === 'string') return request;
    const { choices } = request;
    const answer = edit(composeAnswer(request, textOf));
    const { promptTokens } = answer;
    const head: CompletionHead = {
      id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
      created: Math.floor(Date.now() / 1000),
      model: request.model,
    };
    if (body.stream !== true) {
      const whole = completionBody(head, answer, { choices, usage: withUsage });
      const completionTokens = countCompletionTokens(answer) * choices;
      return { ...jsonReply(whole, promptTokens, completionTokens), id: head.id };
    }
    const isUsageRequested = asObject(body.stream_options).include_usage === true;
    const usage = isUsageRequested && withUsage;
    const chunks = completionChunks(head, answer, { choices, usage, done });
    return { id: head.id, contentType: STREAM, promptTokens, chunks };
  };
