import { isTranslated } from '@model-gateway/dialects';
import type { UpstreamChat } from '@model-gateway/router';
import { fieldOf, isFields, listOf } from '../fields.ts';

/** Models of OpenAI that refuse `max_tokens`; most other servers know only that name. */
const RENAMED = /^(?:openai\/)?(?:o\d|gpt-[5-9])/;

/** What the client of another API could not choose, as servers of chat completions take it. Other bodies stay as they are. */
export function translatedBody(body: UpstreamChat): UpstreamChat {
  if (!isTranslated(body)) return body;
  const messages: unknown = body['messages'];
  const isSigned = Array.isArray(messages) && messages.some(hasSignedCall);
  const signed = isSigned ? { messages: messages.map(withoutSignatures) } : {};
  const { max_tokens: limit, ...others } = body;
  if (limit === undefined || !RENAMED.test(body.model))
    return isSigned ? { ...body, ...signed } : body;
  return { ...others, ...signed, model: body.model, max_completion_tokens: limit };
}

const hasSignedCall = (message: unknown): boolean =>
  listOf(message, 'tool_calls').some((call) => fieldOf(call, 'signature') !== undefined);

/** Only the kind of backend that made a signature knows its field. */
function withoutSignatures(message: unknown): unknown {
  if (!isFields(message) || !hasSignedCall(message)) return message;
  const calls = listOf(message, 'tool_calls').map((call) => {
    if (!isFields(call)) return call;
    const { signature: _signature, ...unsigned } = call;
    return unsigned;
  });
  return { ...message, tool_calls: calls };
}
