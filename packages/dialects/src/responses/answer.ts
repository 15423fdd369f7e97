import type { TurnAnswer } from '@model-gateway/contracts';
import { eventsOfAnswer } from '../turn/answer-events.ts';
import type { Item } from './body.ts';
import type { ResponsesRequest } from './request.ts';
import { ResponsesStream } from './stream.ts';

/** The Response object of a whole answer: the same as at the end of a stream. */
export function writeResponse(answer: TurnAnswer, request: ResponsesRequest): Item {
  const stream = new ResponsesStream(request, answer.model);
  for (const event of eventsOfAnswer(answer)) stream.write(event);
  return stream.answer();
}
