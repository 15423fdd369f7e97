import { createTokenCount, estimateTokens } from '@model-gateway/billing';
import { createStepPauses } from '@model-gateway/kernel';
import type {
  ChatMessage,
  ChatRequest,
  TokenUsage,
  UpstreamCompletion,
} from '@model-gateway/contracts';
import { property, textOfDelta } from '../stream/chunk-fields.ts';
import { tokensOfPart, tokensOfValue } from './unknown-content.ts';

/** The flat amount for an image, unless it is of low detail. */
export const IMAGE_TOKENS = 765;
const LOW_DETAIL_IMAGE_TOKENS = 85;
/** Of a text that is counted at once: it takes a few milliseconds, whatever its characters are. */
const STEP_CHARS = 256 * 1024;
// Models read these as text before the messages. `extra` may set them, too.
const PROMPT_FIELDS = ['tools', 'functions', 'response_format'];
const IMAGE_PARTS: readonly unknown[] = ['image_url', 'input_image', 'image'];
const TEXT_PARTS: readonly unknown[] = ['text', 'refusal', 'thinking', 'input_text', 'output_text'];
// What models do not read, or what counts besides. Anything else that is no number is read, for all that is known.
const OTHER_FIELDS: ReadonlySet<string> = new Set([
  ...PROMPT_FIELDS,
  'model',
  'messages',
  'extra',
  'conversation_id',
  'memory',
  'models',
  'provider',
  'stream',
  'stream_options',
  'stop',
  'tool_choice',
  'function_call',
  'logit_bias',
  'user',
  'metadata',
  'modalities',
  'audio',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'verbosity',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
]);

/** Estimates the usage of a turn from its request and the text of its answer, if the upstream reported none. */
export function estimateUsage(request: ChatRequest, answer: string): TokenUsage {
  const prompt_tokens = estimatePrompt(request);
  const completion_tokens = estimateTokens(answer);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** Estimates the tokens of all that a request sends to the model. */
export function estimatePrompt(request: ChatRequest): number {
  const extra: unknown = request['extra'];
  let tokens = 0;
  for (const message of request.messages) tokens += tokensOfMessage(message);
  for (const name of PROMPT_FIELDS) {
    const value = request[name] ?? property(extra, name);
    if (value !== undefined && value !== null) tokens += estimateTokens(JSON.stringify(value));
  }
  tokens += tokensOfOtherFields(request);
  if (typeof extra === 'object' && extra !== null && !Array.isArray(extra))
    tokens += tokensOfOtherFields(extra);
  return tokens;
}

/** The same for a long request: between its messages, and within a long text, the process serves other requests. */
export async function estimatePromptInSteps(request: ChatRequest): Promise<number> {
  const pauseIfDue = createStepPauses();
  let tokens = estimatePrompt({ ...request, messages: [] });
  for (const message of request.messages) {
    await pauseIfDue();
    const { content } = message;
    if (typeof content !== 'string' || content.length <= STEP_CHARS) {
      tokens += tokensOfMessage(message);
      continue;
    }
    const count = createTokenCount();
    for (let at = 0; at < content.length; at += STEP_CHARS) {
      await pauseIfDue();
      count.add(content.slice(at, at + STEP_CHARS));
    }
    tokens += count.tokens + tokensOfMessage({ ...message, content: '' });
  }
  return tokens;
}

/** Fields that pass to the upstream unread, such as `prediction`, `documents` or `chat_template`. */
function tokensOfOtherFields(fields: object): number {
  let tokens = 0;
  for (const name of Object.keys(fields)) {
    if (OTHER_FIELDS.has(name)) continue;
    const value: unknown = Reflect.get(fields, name);
    if (typeof value === 'string' || typeof value === 'object') tokens += tokensOfValue(value);
  }
  return tokens;
}

/** The whole text of a completion. */
export function textOfCompletion({ choices }: UpstreamCompletion): string {
  return choices.map(({ message }) => textOfDelta(message)).join('');
}

function tokensOfMessage(message: ChatMessage): number {
  const { content } = message;
  // Nearly every message has a role and a text and nothing else: looking for other texts would cost more than the estimate.
  if (typeof content === 'string' && Object.keys(message).length === 2) {
    return estimateTokens(content);
  }
  let tokens = estimateTokens(textOfDelta(message));
  if (Array.isArray(content)) tokens += tokensOfParts(content);
  const images: unknown = message.images;
  if (Array.isArray(images)) for (const image of images) tokens += tokensOfImage(image);
  return tokens;
}

/** The tokens of the parts of a message that are no text. */
function tokensOfParts(parts: readonly object[]): number {
  let tokens = 0;
  for (const part of parts) {
    if (TEXT_PARTS.includes(property(part, 'type'))) continue;
    tokens += isImage(part) ? tokensOfImage(part) : tokensOfPart(part);
  }
  return tokens;
}

/** The tokens of the images among the parts of a message. */
export function tokensOfImages(parts: readonly unknown[]): number {
  let tokens = 0;
  for (const part of parts) if (isImage(part)) tokens += tokensOfImage(part);
  return tokens;
}

const isImage = (part: unknown): boolean => IMAGE_PARTS.includes(property(part, 'type'));

function tokensOfImage(image: unknown): number {
  const detail = property(property(image, 'image_url'), 'detail') ?? property(image, 'detail');
  return detail === 'low' ? LOW_DETAIL_IMAGE_TOKENS : IMAGE_TOKENS;
}
