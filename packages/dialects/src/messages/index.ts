import type { Dialect } from '../dialect.ts';
import { messageOf } from './answer.ts';
import { messagesError } from './errors.ts';
import { messagesRequest } from './request.ts';
import { createMessagesStream } from './stream.ts';

/** `POST /v1/messages`. */
export const messagesDialect: Dialect = {
  request: messagesRequest,
  writeAnswer: (answer) => messageOf(answer),
  writeStream: (_request, head) => createMessagesStream(head),
  requestIdHeader: 'request-id',
  flagsHeader: 'anthropic-beta',
  refusesInJson: true,
  writeError: messagesError,
};
