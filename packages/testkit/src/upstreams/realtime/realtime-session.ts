import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  asList,
  asObject,
  asText,
  countTokens,
  type JsonObject,
} from '@model-gateway/demo-model/answers';
import { faultOf } from '../faults/fault-plan.ts';
import type { RealtimeFault } from './realtime-faults.ts';
import {
  endedResponse,
  itemAdded,
  replyEvents,
  type RealtimeGeneration,
  type RealtimeReply,
} from './response-events.ts';

/** The server side of a realtime session; the owner of the connection passes events to it. */
export interface RealtimeSession {
  readonly id: string;
  /** Sends `session.created`. */
  open(): void;
  /** Handles one client event. */
  handle(event: JsonObject, faults: readonly RealtimeFault[]): Promise<void>;
}

/** The connection of a session. */
export interface RealtimeLink {
  send(event: JsonObject): void;
  /** Destroys the connection. */
  terminate(): void;
  readonly closed: AbortSignal;
}

interface SessionOptions {
  readonly model: string;
  readonly generation: RealtimeGeneration;
  readonly deltaDelayMs: number;
  readonly link: RealtimeLink;
  /** The text of the model. */
  readonly answer?: (heard: { readonly text: string; readonly audioSecs: number }) => string;
  /** Called for each ended response with the output tokens that were sent. */
  readonly onResponse?: (response: { readonly id: string; readonly outputTokens: number }) => void;
}

// PCM16 at 16 kHz.
const AUDIO_BYTES_PER_SECOND = 32_000;
const AUDIO_TOKENS_PER_SECOND = 10;

export function createRealtimeSession(options: SessionOptions): RealtimeSession {
  const { model, generation, deltaDelayMs, link } = options;
  const id = `sess_${randomUUID()}`;
  let config: JsonObject = { modalities: ['text', 'audio'], instructions: '' };
  let bufferedBytes = 0;
  let inputBytes = 0;
  let inputText = '';
  let active: { readonly cancel: AbortController } | undefined;

  const sendEvent = (type: string, fields: JsonObject = {}): void =>
    link.send({ type, event_id: `event_${randomUUID()}`, ...fields });
  const sessionView = () => ({ id, object: 'realtime.session', model, ...config });
  function refuse(code: string, message: string, event: JsonObject): void {
    const eventId = event.event_id ?? null;
    const type = 'invalid_request_error';
    sendEvent('error', { error: { type, code, message, param: null, event_id: eventId } });
  }

  async function respond(event: JsonObject, faults: readonly RealtimeFault[]): Promise<void> {
    if (active !== undefined) {
      const message = 'Conversation already has an active response';
      return refuse('conversation_already_has_active_response', message, event);
    }
    const cancel = new AbortController();
    active = { cancel };
    const reply = createReply(event);
    const { responseId } = reply;
    const started = { id: responseId, object: 'realtime.response', status: 'in_progress' };
    sendEvent('response.created', { response: { ...started, output: [], usage: null } });
    const outputTokens = await sendReply(reply, faults, cancel.signal);
    active = undefined;
    options.onResponse?.({ id: responseId, outputTokens });
    if (link.closed.aborted) return undefined;
    const failed = faultOf(faults, 'failed') !== undefined;
    const status = failed ? 'failed' : cancel.signal.aborted ? 'cancelled' : 'completed';
    const usage = faultOf(faults, 'no-usage') === undefined;
    const end = { status, outputTokens, usage } as const;
    return sendEvent('response.done', { response: endedResponse(reply, generation, end) });
  }

  function createReply(event: JsonObject): RealtimeReply {
    const settings = { ...config, ...asObject(event.response) };
    const modalities = asList(settings.output_modalities ?? settings.modalities);
    const audioSecs = inputBytes / AUDIO_BYTES_PER_SECOND;
    const spoken = modalities.includes('audio');
    const text = (options.answer ?? demoReply)({ text: inputText, audioSecs });
    const instructions = asText(settings.instructions) ?? '';
    const reply = {
      responseId: `resp_${randomUUID()}`,
      text,
      spoken,
      inputTextTokens: countTokens(inputText) + countTokens(instructions),
      inputAudioTokens: Math.ceil(audioSecs * AUDIO_TOKENS_PER_SECOND),
    };
    inputBytes = 0;
    inputText = '';
    return reply;
  }

  async function sendReply(
    reply: RealtimeReply,
    faults: readonly RealtimeFault[],
    cancelled: AbortSignal,
  ): Promise<number> {
    const cutAfter = faultOf(faults, 'cut')?.afterDeltas;
    const ended = AbortSignal.any([cancelled, link.closed]);
    let deltas = 0;
    if (faultOf(faults, 'failed') !== undefined) return 0;
    for (const { event, tokens } of replyEvents(reply, generation)) {
      if (deltas === cutAfter) {
        link.terminate();
        return deltas;
      }
      if (tokens > 0 && deltaDelayMs > 0) {
        await pause(deltaDelayMs, undefined, { signal: ended }).catch(() => undefined);
      }
      if (ended.aborted) return deltas;
      link.send(event);
      deltas += tokens;
    }
    return deltas;
  }

  const handlers: Readonly<
    Record<string, (event: JsonObject, faults: readonly RealtimeFault[]) => Promise<void> | void>
  > = {
    'session.update': (event) => {
      config = { ...config, ...asObject(event.session) };
      sendEvent('session.updated', { session: sessionView() });
    },
    'input_audio_buffer.append': (event) => {
      bufferedBytes += Buffer.byteLength(asText(event.audio) ?? '', 'base64');
    },
    'input_image_buffer.append': () => undefined,
    'input_audio_buffer.commit': (event) => {
      if (bufferedBytes === 0) {
        const message = 'Error committing input audio buffer: buffer too small.';
        return refuse('input_audio_buffer_commit_empty', message, event);
      }
      inputBytes += bufferedBytes;
      bufferedBytes = 0;
      const item = userItem([{ type: 'input_audio', transcript: null }]);
      sendEvent('input_audio_buffer.committed', { previous_item_id: null, item_id: item.id });
      sendEvent(itemAdded(generation), { previous_item_id: null, item });
    },
    'input_audio_buffer.clear': () => {
      bufferedBytes = 0;
      sendEvent('input_audio_buffer.cleared');
    },
    'conversation.item.create': (event) => {
      const content = asList(asObject(event.item).content).map(asObject);
      inputText += content.map((part) => asText(part.text) ?? '').join(' ');
      const item = { ...userItem(content), ...asObject(event.item) };
      sendEvent(itemAdded(generation), { previous_item_id: null, item });
    },
    'response.create': respond,
    'response.cancel': (event) => {
      if (active !== undefined) return active.cancel.abort();
      const message = 'Cancellation failed: no active response found';
      return refuse('response_cancel_not_active', message, event);
    },
  };

  return {
    id,
    open: () => sendEvent('session.created', { session: sessionView() }),
    async handle(event, faults) {
      const type = asText(event.type) ?? '';
      const handler = Object.hasOwn(handlers, type) ? handlers[type] : undefined;
      const message = `Invalid value: '${type}'.`;
      await (handler === undefined
        ? refuse('invalid_value', message, event)
        : handler(event, faults));
    },
  };
}

const userItem = (content: readonly JsonObject[]) => ({
  id: `item_${randomUUID()}`,
  object: 'realtime.item',
  type: 'message',
  status: 'completed',
  role: 'user',
  content,
});

const demoReply = ({ text, audioSecs }: { readonly text: string; readonly audioSecs: number }) =>
  [
    'This is the built-in realtime model.',
    `I heard ${audioSecs.toFixed(1)} seconds of audio.`,
    text === '' ? '' : `You wrote: "${text}".`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
