import type { FinishReason, TurnEvent } from '@model-gateway/contracts';
import type { EventWriter, StreamFailure, StreamHead } from '../dialect.ts';
import {
  callThought,
  messageHead,
  messagesUsage,
  NO_USAGE,
  stopFields,
  streamedUsage,
  textBlock,
  toolUse,
  type AnswerOptions,
} from './answer.ts';
import { upstreamErrorType } from './errors.ts';

type ToolCall = Extract<TurnEvent, { type: 'tool_call' }>;
type Thought = Extract<TurnEvent, { type: 'reasoning' }>;

const TEXT_HEAD = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';
const TEXT_DELTA = ',"delta":{"type":"text_delta","text":';

/** Writes the events of one answer. Blocks follow one another: only one is open at a time. */
export function createMessagesStream({ hasThoughts }: AnswerOptions): EventWriter {
  let nextIndex = 0;
  /** The kind of the open block, or the index of its tool call. */
  let open: 'text' | 'thinking' | number | undefined;
  let isSigned = false;
  let hasCalls = false;
  let isRefusal = false;
  let finish: FinishReason = 'stop';
  let stopSequence: string | undefined;
  let usage = NO_USAGE;
  /** Tool calls after the first, whose pieces may come between those of others. */
  const later = new Map<number, { readonly call: ToolCall; input: string }>();

  function start(kind: NonNullable<typeof open>, block: object): string {
    const closed = close();
    open = kind;
    isSigned = false;
    return closed + event('content_block_start', { index: nextIndex, content_block: block });
  }

  function close(): string {
    if (open === undefined) return '';
    // Some clients send a thought back only if they were told of a signature.
    const unsigned =
      open === 'thinking' && !isSigned ? delta({ type: 'signature_delta', signature: '' }) : '';
    open = undefined;
    nextIndex += 1;
    return unsigned + event('content_block_stop', { index: nextIndex - 1 });
  }

  const delta = (fields: object): string =>
    event('content_block_delta', { index: nextIndex, delta: fields });

  const writeText = (text: string): string =>
    (open === 'text' ? '' : start('text', textBlock(''))) +
    // Not `delta`, because this runs for each token.
    `${TEXT_HEAD}${nextIndex}${TEXT_DELTA}${JSON.stringify(text)}}}\n\n`;

  function writeThought({ text, signature, encrypted }: Thought): string {
    if (encrypted !== undefined) {
      const begun = start('thinking', { type: 'redacted_thinking', data: encrypted });
      isSigned = true;
      return begun + close();
    }
    // What follows a signature is another thought.
    let written =
      open === 'thinking' && !isSigned
        ? ''
        : start('thinking', { type: 'thinking', thinking: '', signature: '' });
    if (text !== '') written += delta({ type: 'thinking_delta', thinking: text });
    if (signature !== undefined) {
      isSigned = true;
      written += delta({ type: 'signature_delta', signature });
    }
    return written;
  }

  function startCall(call: ToolCall): string {
    const [thought] = hasThoughts ? callThought(call) : [];
    let before = '';
    if (thought !== undefined) {
      before =
        start('thinking', { ...thought, signature: '' }) +
        delta({ type: 'signature_delta', signature: thought.signature });
      isSigned = true;
    }
    return before + start(call.index, toolUse(call.id, call.name));
  }

  function writeCall(call: ToolCall): string {
    hasCalls = true;
    if (typeof open !== 'number') return startCall(call);
    later.set(call.index, { call, input: '' });
    return '';
  }

  function writeInput(index: number, text: string): string {
    if (open === index) return delta({ type: 'input_json_delta', partial_json: text });
    const call = later.get(index);
    if (call !== undefined) call.input += text;
    return '';
  }

  function writeLater(): string {
    let written = '';
    for (const { call, input } of later.values()) {
      written += startCall(call);
      if (input !== '') written += delta({ type: 'input_json_delta', partial_json: input });
    }
    later.clear();
    return written;
  }

  return {
    begin({ id, model, promptTokens }: StreamHead) {
      const message = {
        ...messageHead(id, model),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        // Some clients read the prompt only here, where it is not yet known.
        usage: messagesUsage({ promptTokens: promptTokens(), completionTokens: 0 }),
      };
      return event('message_start', { message }) + PING;
    },
    alive: () => PING,
    write(given) {
      switch (given.type) {
        case 'text':
          return writeLater() + writeText(given.text);
        case 'refusal':
          isRefusal = true;
          return writeLater() + writeText(given.text);
        case 'reasoning':
          return writeLater() + writeThought(given);
        case 'citation':
        case 'image':
          return '';
        case 'tool_call':
          return writeCall(given);
        case 'tool_arguments':
          return writeInput(given.index, given.text);
        case 'finish':
          finish = given.reason;
          stopSequence = given.stopSequence;
          return writeLater() + close();
        case 'usage':
          usage = given.usage;
          return '';
      }
    },
    end: () =>
      writeLater() +
      close() +
      event('message_delta', {
        delta: { container: null, ...stopFields(finish, { hasCalls, isRefusal, stopSequence }) },
        usage: streamedUsage(usage),
      }) +
      event('message_stop', {}),
    fail: failed,
  };
}

/** The event that ends a stream which was cut off. */
export const failed = ({ message, upstreamStatus, requestId }: StreamFailure): string =>
  event('error', {
    error: { type: upstreamErrorType(upstreamStatus), message },
    request_id: requestId,
  });

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

/** Clients skip it; agents count it as a sign of life. */
export const PING = event('ping', {});
