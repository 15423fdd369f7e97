import type { AssistantPart, TurnAnswer, TurnEvent } from '@model-gateway/contracts';
import type { Item } from './body.ts';
import type { ResponsesRequest } from './request.ts';
import { ResponsesStream } from './stream.ts';

/** The Response object of a whole answer: the same as at the end of a stream. */
export function writeResponse(answer: TurnAnswer, request: ResponsesRequest): Item {
  const stream = new ResponsesStream(request, answer.model);
  // They wait for the text that they belong to.
  for (const citation of answer.citations ?? []) stream.write({ type: 'citation', citation });
  for (const [index, part] of answer.parts.entries()) {
    for (const event of eventsOf(part, index)) stream.write(event);
  }
  stream.write({ type: 'finish', reason: answer.finish });
  stream.write({ type: 'usage', usage: answer.usage });
  return stream.answer();
}

function eventsOf(part: AssistantPart, index: number): readonly TurnEvent[] {
  if (part.type !== 'tool_call') return [part];
  const { id, name, signature, arguments: text } = part;
  return [
    { type: 'tool_call', index, id, name, signature },
    { type: 'tool_arguments', index, text },
  ];
}
