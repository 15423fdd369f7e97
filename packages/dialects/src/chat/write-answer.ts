import type {
  AssistantPart,
  ImagePart,
  ReasoningPart,
  ToolCallPart,
  TurnAnswer,
  UpstreamCompletion,
} from '@model-gateway/contracts';
import { chatUsage } from './read-answer.ts';
import { callSignatureFields } from '../turn/call-signatures.ts';
import { imageFields } from './images.ts';
import { reasoningFields } from './reply-parts.ts';
import { citationFields } from './url-citations.ts';
import { finishFields } from './write-stream.ts';

/** A whole answer as a chat completion, with the fields that clients expect in each, null where they say nothing. */
export function completionOf(answer: TurnAnswer): UpstreamCompletion {
  const { id, created, model, parts, citations = [], finish, stopSequence, usage } = answer;
  const { logprobs = null } = answer;
  const text = joined(parts, 'text');
  const refusal = joined(parts, 'refusal');
  const calls = parts.filter((part): part is ToolCallPart => part.type === 'tool_call');
  const message = {
    refusal: refusal === '' ? null : refusal,
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...reasoningFields(parts.filter((part): part is ReasoningPart => part.type === 'reasoning')),
    ...citationFields(citations),
    ...imageFields(parts.filter((part): part is ImagePart => part.type === 'image')),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
  };
  const ended = finishFields({ reason: finish, stopSequence });
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs, ...ended }],
    usage: usage && chatUsage(usage),
  };
}

const joined = (parts: readonly AssistantPart[], type: 'text' | 'refusal'): string =>
  parts.map((part) => (part.type === type ? part.text : '')).join('');

const callOf = ({ id, name, arguments: written, signature }: ToolCallPart) => ({
  id,
  type: 'function',
  function: { name, arguments: written },
  ...callSignatureFields(signature),
});
