import type { Dialect } from '../dialect.ts';
import { writeResponse } from './answer.ts';
import { writeResponsesError } from './errors.ts';
import { responsesRequestSchema, type ResponsesRequest } from './request.ts';
import { ResponsesStream } from './stream.ts';

/** The Responses API. */
export const responsesDialect: Dialect<ResponsesRequest> = {
  request: responsesRequestSchema,
  writeAnswer: writeResponse,
  writeStream: (request, { model }) => new ResponsesStream(request, model),
  writeError: writeResponsesError,
};
