import type { Dialect } from '../dialect.ts';
import { writeResponse } from './answer.ts';
import { writeResponsesError } from './errors.ts';
import { PassedResponsesStream, passResponse } from './passed-stream.ts';
import { RESPONSES_API, responsesRequestSchema, type ResponsesRequest } from './request.ts';
import { ResponsesStream } from './stream.ts';

/** The Responses API. */
export const responsesDialect: Dialect<ResponsesRequest> = {
  request: responsesRequestSchema,
  writeAnswer: writeResponse,
  writeStream: (request) => new ResponsesStream(request),
  passing: {
    api: RESPONSES_API,
    passAnswer: passResponse,
    passStream: (request, signs) => new PassedResponsesStream(request, signs),
  },
  writeError: writeResponsesError,
};
