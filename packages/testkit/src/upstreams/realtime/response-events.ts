import { randomUUID } from 'node:crypto';
import { tokensOf, type JsonObject } from '@model-gateway/demo-model/answers';

/** The event names of a realtime API: the older ones, which Qwen-Omni uses, or the current ones. */
export type RealtimeGeneration = 'beta' | 'ga';

/** A spoken or written response. */
export interface RealtimeReply {
  readonly responseId: string;
  readonly text: string;
  readonly spoken: boolean;
  readonly inputTextTokens: number;
  readonly inputAudioTokens: number;
}

/** One event of a response and its output tokens. */
export interface ReplyEvent {
  readonly event: JsonObject;
  readonly tokens: number;
}

type ReplyStatus = 'completed' | 'cancelled' | 'failed';

// 20 ms of silence: PCM16 at 24 kHz.
const AUDIO_PIECE = Buffer.alloc(960).toString('base64');

const NAMES = {
  beta: { text: 'response.text', audio: 'response.audio', details: 'tokens_details' },
  ga: { text: 'response.output_text', audio: 'response.output_audio', details: 'token_details' },
};

/** The events of a response between its creation and its end: a delta for each word, and one for its audio if it is spoken. */
export function* replyEvents(
  reply: RealtimeReply,
  generation: RealtimeGeneration,
): Generator<ReplyEvent> {
  const { text, audio } = NAMES[generation];
  const words = reply.spoken ? `${audio}_transcript` : text;
  const itemId = `item_${randomUUID()}`;
  const place = { response_id: reply.responseId, item_id: itemId, output_index: 0 };
  const inPart = { ...place, content_index: 0 };
  const item = { ...itemOf(itemId, reply, generation), status: 'in_progress', content: [] };
  const ended = itemOf(itemId, reply, generation);
  const outputIndex = { response_id: reply.responseId, output_index: 0 };

  yield event('response.output_item.added', { ...outputIndex, item });
  yield event(itemAdded(generation), { previous_item_id: null, item });
  yield event('response.content_part.added', { ...inPart, part: partOf({ ...reply, text: '' }) });
  for (const token of tokensOf(reply.text)) {
    yield event(`${words}.delta`, { ...inPart, delta: token }, 1);
    if (reply.spoken) yield event(`${audio}.delta`, { ...inPart, delta: AUDIO_PIECE }, 1);
  }
  if (reply.spoken) yield event(`${audio}.done`, inPart);
  const whole = reply.spoken ? { transcript: reply.text } : { text: reply.text };
  yield event(`${words}.done`, { ...inPart, ...whole });
  yield event('response.content_part.done', { ...inPart, part: partOf(reply) });
  yield event('response.output_item.done', { ...outputIndex, item: ended });
}

const event = (type: string, fields: JsonObject, tokens = 0): ReplyEvent => ({
  event: { type, event_id: `event_${randomUUID()}`, ...fields },
  tokens,
});

/** The name of the event for a new item in a conversation. */
export const itemAdded = (generation: RealtimeGeneration): string =>
  generation === 'ga' ? 'conversation.item.added' : 'conversation.item.created';

/** The `response` object of `response.done`. */
export function endedResponse(
  reply: RealtimeReply,
  generation: RealtimeGeneration,
  end: { readonly status: ReplyStatus; readonly outputTokens: number; readonly usage: boolean },
): JsonObject {
  const output = end.status === 'completed' ? [itemOf('item_0', reply, generation)] : [];
  return {
    id: reply.responseId,
    object: 'realtime.response',
    status: end.status,
    status_details: end.status === 'completed' ? null : { type: end.status, reason: reasonOf(end) },
    output,
    usage: end.usage ? usageOf(reply, generation, end.outputTokens) : null,
  };
}

const reasonOf = ({ status }: { readonly status: ReplyStatus }): string =>
  status === 'cancelled' ? 'client_cancelled' : 'server_error';

/** Tokens: one for each word and, if spoken, one for its audio; 0.1 seconds of input audio are one. */
function usageOf(reply: RealtimeReply, generation: RealtimeGeneration, outputTokens: number) {
  const { details } = NAMES[generation];
  const inputTokens = reply.inputTextTokens + reply.inputAudioTokens;
  const audioTokens = reply.spoken ? Math.floor(outputTokens / 2) : 0;
  return {
    total_tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    [`input_${details}`]: {
      cached_tokens: 0,
      text_tokens: reply.inputTextTokens,
      audio_tokens: reply.inputAudioTokens,
    },
    [`output_${details}`]: {
      text_tokens: outputTokens - audioTokens,
      audio_tokens: audioTokens,
    },
  };
}

function itemOf(id: string, reply: RealtimeReply, generation: RealtimeGeneration) {
  const part = partOf(reply);
  const type = generation === 'ga' ? `output_${part.type}` : part.type;
  return {
    id,
    object: 'realtime.item',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ ...part, type }],
  };
}

function partOf({ spoken, text }: RealtimeReply) {
  return spoken ? { type: 'audio', transcript: text } : { type: 'text', text };
}
