import { schemaValue } from '../json-schema/schema-value.ts';
import type { ChatRequest } from './chat-request.ts';
import { demoText, quote } from './demo-text.ts';
import { createMessageHints } from './message-hints.ts';
import { questionOf } from './question.ts';

/** A JSON answer: one that satisfies the schema of the request, else an object with the text of the demo model. */
export function demoJson(request: ChatRequest, schema: unknown): string {
  const { text } = questionOf(request);
  if (schema === undefined)
    return JSON.stringify({ answer: demoText(request), question: quote(text) });
  const hints = createMessageHints(text);
  return JSON.stringify(schemaValue(schema, { hints, withOptional: true }));
}
