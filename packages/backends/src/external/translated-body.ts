import { NO_LIMIT, type UpstreamChat, type UpstreamTurn } from '@model-gateway/contracts';
import { callSignatureOf, CHAT_API } from '@model-gateway/dialects';
import { numberOf } from '@model-gateway/kernel';
import { isFields, listOf } from '../fields.ts';
import { withOneInstruction } from '../system-messages.ts';

/** Models of OpenAI that refuse `max_tokens`; most other servers know only that name. */
const RENAMED = /^(?:openai\/)?(?:o\d|gpt-[5-9])/;

/** Models of OpenAI, which take no -1: without a limit they generate as much as they can. */
const OPENAI = /^(?:openai\/)?(?:o\d|gpt-[3-9]|chatgpt-)/;

const LIMITS: readonly string[] = ['max_tokens', 'max_completion_tokens'];

/** Models whose service gives signatures to calls and wants them back, also in its chat completions. */
const SIGNING = /gemini/i;

/** What the client of another API could not choose, as servers of chat completions take it. Other bodies stay as they are. */
export const translatedBody = (turn: UpstreamTurn): UpstreamChat =>
  withoutNoLimit(turn.api === CHAT_API ? turn.chat : adaptedBody(withOneInstruction(turn)));

function adaptedBody(body: UpstreamChat): UpstreamChat {
  const messages: unknown = body['messages'];
  const isSigned =
    !SIGNING.test(body.model) && Array.isArray(messages) && messages.some(hasSignedCall);
  const signed = isSigned ? { messages: messages.map(withoutSignatures) } : {};
  const { max_tokens: limit, ...others } = body;
  if (limit === undefined || !RENAMED.test(body.model))
    return isSigned ? { ...body, ...signed } : body;
  return { ...others, ...signed, model: body.model, max_completion_tokens: limit };
}

function withoutNoLimit(body: UpstreamChat): UpstreamChat {
  const isNone = (name: string): boolean => numberOf(body[name]) === NO_LIMIT;
  if (!LIMITS.some(isNone) || !OPENAI.test(body.model)) return body;
  const kept = Object.entries(body).filter(([name]) => !LIMITS.includes(name) || !isNone(name));
  return { ...Object.fromEntries(kept), model: body.model };
}

const hasSignedCall = (message: unknown): boolean =>
  listOf(message, 'tool_calls').some((call) => callSignatureOf(call) !== undefined);

/** Only the service that made a signature knows its field. */
function withoutSignatures(message: unknown): unknown {
  if (!isFields(message) || !hasSignedCall(message)) return message;
  const calls = listOf(message, 'tool_calls').map((call) => {
    if (!isFields(call)) return call;
    const { signature: _signature, extra_content: _extra, ...unsigned } = call;
    return unsigned;
  });
  return { ...message, tool_calls: calls };
}
