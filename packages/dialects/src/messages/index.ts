import type { DialectRequest } from '../dialect.ts';
import { eventDialect } from '../turn/answer-writer.ts';
import { messageOf, type AnswerOptions } from './answer.ts';
import { messagesError } from './errors.ts';
import { PassedMessagesStream, passMessage } from './passed.ts';
import { editedMessages, MESSAGES_API, messagesRequest } from './request.ts';
import { createMessagesStream } from './stream.ts';

const optionsOf = ({ chat }: DialectRequest): AnswerOptions => ({
  hasThoughts: chat['reasoning_effort'] !== undefined,
});

/** `POST /v1/messages`. */
export const messagesDialect = eventDialect({
  api: MESSAGES_API,
  request: messagesRequest,
  edited: editedMessages,
  writeAnswer: (answer, request) => messageOf(answer, optionsOf(request)),
  writeStream: (request) => createMessagesStream(optionsOf(request)),
  passAnswer: (answer, _request, usage) => passMessage(answer, usage),
  passStream: () => new PassedMessagesStream(),
  requestIdHeader: 'request-id',
  flagsHeader: 'anthropic-beta',
  writeError: messagesError,
});
