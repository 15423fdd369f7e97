import { eventDialect } from '../turn/answer-writer.ts';
import { writeResponse } from './answer.ts';
import { writeResponsesError } from './errors.ts';
import { PassedResponsesStream, passResponse } from './passed-stream.ts';
import { editedResponses, RESPONSES_API, responsesRequestSchema } from './request.ts';
import { ResponsesStream } from './stream.ts';

/** The Responses API. */
export const responsesDialect = eventDialect({
  api: RESPONSES_API,
  request: responsesRequestSchema,
  edited: editedResponses,
  writeAnswer: writeResponse,
  writeStream: (request) => new ResponsesStream(request),
  passAnswer: passResponse,
  passStream: (request, signs) => new PassedResponsesStream(request, signs),
  writeError: writeResponsesError,
});
