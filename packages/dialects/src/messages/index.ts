import type { DialectRequest } from '../dialect.ts';
import { eventDialect } from '../turn/answer-writer.ts';
import { messageOf, type AnswerOptions } from './answer.ts';
import { messagesError } from './errors.ts';
import { RelayedMessagesStream, relayMessage } from './relay.ts';
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
  relayAnswer: (answer, _request, usage) => relayMessage(answer, usage),
  relayStream: () => new RelayedMessagesStream(),
  requestIdHeader: 'request-id',
  flagsHeader: 'anthropic-beta',
  writeError: messagesError,
});
