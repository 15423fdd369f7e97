import { eventDialect } from '../turn/answer-writer.ts';
import { writeResponse } from './answer.ts';
import { writeResponsesError } from './errors.ts';
import { RelayedResponsesStream, relayResponse } from './relayed-stream.ts';
import { editedResponses, RESPONSES_API, responsesRequestSchema } from './request.ts';
import { ResponsesStream } from './stream.ts';

/** The Responses API. */
export const responsesDialect = eventDialect({
  api: RESPONSES_API,
  request: responsesRequestSchema,
  edited: editedResponses,
  writeAnswer: writeResponse,
  writeStream: (request) => new ResponsesStream(request),
  relayAnswer: relayResponse,
  relayStream: (request, signs) => new RelayedResponsesStream(request, signs),
  writeError: writeResponsesError,
});
