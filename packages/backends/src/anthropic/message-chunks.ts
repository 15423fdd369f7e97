import {
  chatUsage,
  citationFields,
  MESSAGES_API,
  reasoningFields,
  withOrigin,
  withUsageSoFar,
} from '@model-gateway/dialects';
import { tryParseJson } from '@model-gateway/kernel';
import type { ChatChunk } from '@model-gateway/router';
import { createChunkShape, type AnswerContext, type ChunkShape } from '../chunk-shape.ts';
import { cleanMessage, upstreamFailed, upstreamRefused } from '../errors/upstream-error.ts';
import { countOf, fieldOf, isFields, textOf, type Fields } from '../fields.ts';
import { eventData } from '../transport/answers/event-data.ts';
import { urlCitation } from './citations.ts';
import { finishFields, usageOf, type Usage } from './from-upstream.ts';

const TYPE = /^\w{1,64}$/;
/** The counts of a usage that a later report can replace. */
const COUNTS = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
];

/** What the errors of a stream would be as answers. Those of a request come before a stream begins. */
const ERROR_STATUSES: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  timeout_error: 504,
  api_error: 500,
};

interface ChunkOptions {
  /** Whether each chunk remembers its event, for a client of the same API. */
  readonly remembers: boolean;
}

/** The events of a streamed answer as chunks; the last one has the usage. */
export async function* chunksOfMessage(
  body: AsyncIterable<Uint8Array>,
  context: AnswerContext,
  options: ChunkOptions = { remembers: false },
): AsyncGenerator<ChatChunk, void, undefined> {
  const reader = new MessageReader(context, options);
  for await (const data of eventData(body, { isComplete: () => reader.isOver })) {
    const chunk = reader.read(data);
    if (chunk !== undefined) yield chunk;
    if (reader.isOver) return;
  }
  throw upstreamFailed('the upstream ended the stream before the answer was complete');
}

interface OpenCall {
  readonly index: number;
  /** What the start of the block has; most upstreams send the input in pieces after it. */
  readonly input: unknown;
  hasArguments: boolean;
}

/** Without schemas, because this runs for each token. */
class MessageReader {
  readonly #context: AnswerContext;
  readonly #remembers: boolean;
  #shape: ChunkShape;
  #usage: Usage = {};
  /** The tool calls by the index of their blocks. */
  readonly #calls = new Map<number, OpenCall>();
  #textLength = 0;
  /** Of the open text block. */
  #blockStart = 0;
  #citations: unknown[] = [];
  #hasFinished = false;
  isOver = false;

  constructor(context: AnswerContext, { remembers }: ChunkOptions) {
    this.#context = context;
    this.#remembers = remembers;
    this.#shape = createChunkShape(context.model, context.clock);
  }

  read(data: string): ChatChunk | undefined {
    const event = tryParseJson(data);
    const type = textOf(event, 'type') ?? '';
    if (!isFields(event) || !TYPE.test(type))
      throw upstreamFailed('the upstream sent an event that is not one of its API');
    const chunk = this.#chunkOf(type, event);
    if (!this.#remembers || type === 'error') return chunk;
    return withOrigin(chunk ?? this.#shape.delta({}), { api: MESSAGES_API, value: event });
  }

  #chunkOf(type: string, event: Fields): ChatChunk | undefined {
    switch (type) {
      case 'content_block_delta':
        return this.#continued(event);
      case 'content_block_start':
        return this.#started(event);
      case 'content_block_stop':
        return this.#ended(event);
      case 'message_start': {
        const { model, clock } = this.#context;
        const { message } = event;
        this.#shape = createChunkShape(textOf(message, 'model') ?? model, clock);
        this.#usage = countsOf(fieldOf(message, 'usage'));
        return this.#begun();
      }
      case 'message_delta': {
        const { delta } = event;
        const counts = countsOf(event['usage']);
        this.#usage = { ...this.#usage, ...counts };
        const stop = {
          stop_reason: textOf(delta, 'stop_reason'),
          stop_sequence: textOf(delta, 'stop_sequence'),
        };
        const chunk = this.#finish(stop);
        if (counts['output_tokens'] === undefined) return chunk;
        return withUsageSoFar(chunk, usageOf(this.#usage));
      }
      case 'message_stop':
        this.isOver = true;
        if (!this.#hasFinished) return this.#finish({});
        // What an upstream does not report is estimated.
        if (this.#usage['output_tokens'] === undefined) return undefined;
        return this.#shape.usage(chatUsage(usageOf(this.#usage)));
      case 'error': {
        this.isOver = true;
        const { secret } = this.#context;
        const status = ERROR_STATUSES[textOf(event['error'], 'type') ?? ''];
        if (status !== undefined) throw upstreamRefused(status, JSON.stringify(event), secret);
        const message = textOf(event['error'], 'message') ?? 'unknown error';
        return { error: { message: cleanMessage(message, secret) } };
      }
      default:
        return undefined;
    }
  }

  /** Some upstreams end a message without a reason. */
  #finish(stop: Parameters<typeof finishFields>[0]): ChatChunk {
    this.#hasFinished = true;
    return this.#shape.delta({}, finishFields(stop));
  }

  /** The prompt is counted when the answer begins; how much of it came from a cache cannot be estimated. */
  #begun(): ChatChunk {
    const chunk = this.#shape.delta({ content: '' });
    if (this.#usage['input_tokens'] === undefined) return chunk;
    return withUsageSoFar(chunk, { ...usageOf(this.#usage), completionTokens: 0 });
  }

  #started(event: Fields): ChatChunk | undefined {
    const block = event['content_block'];
    switch (textOf(block, 'type')) {
      case 'tool_use': {
        const index = this.#calls.size;
        const input = fieldOf(block, 'input') ?? {};
        this.#calls.set(countOf(event, 'index') ?? 0, { index, input, hasArguments: false });
        const called = { name: textOf(block, 'name') ?? '', arguments: '' };
        const id = textOf(block, 'id') ?? '';
        return this.#shape.delta({
          tool_calls: [{ index, id, type: 'function', function: called }],
        });
      }
      case 'redacted_thinking': {
        const encrypted = textOf(block, 'data') ?? '';
        return this.#shape.delta(reasoningFields([{ type: 'reasoning', text: '', encrypted }]));
      }
      default: {
        this.#blockStart = this.#textLength;
        const text = textOf(block, 'text') ?? '';
        return text === '' ? undefined : this.#text(text);
      }
    }
  }

  #continued(event: Fields): ChatChunk | undefined {
    const { delta } = event;
    const text = textOf(delta, 'text');
    if (text !== undefined) return this.#text(text);
    const thinking = textOf(delta, 'thinking');
    if (thinking !== undefined) return this.#shape.delta({ reasoning_content: thinking });
    const signature = textOf(delta, 'signature');
    if (signature !== undefined)
      return this.#shape.delta(reasoningFields([{ type: 'reasoning', text: '', signature }]));
    const citation = fieldOf(delta, 'citation');
    if (citation !== undefined) this.#citations.push(citation);
    const written = textOf(delta, 'partial_json') ?? '';
    const call = this.#calls.get(countOf(event, 'index') ?? 0);
    if (written === '' || call === undefined) return undefined;
    call.hasArguments = true;
    return this.#arguments(call, written);
  }

  /** A call without arguments has no pieces; clients of chat completions parse what they get. */
  #ended(event: Fields): ChatChunk | undefined {
    if (this.#citations.length > 0) return this.#cited();
    const call = this.#calls.get(countOf(event, 'index') ?? 0);
    if (call === undefined || call.hasArguments) return undefined;
    return this.#arguments(call, JSON.stringify(call.input));
  }

  #text(text: string): ChatChunk {
    this.#textLength += text.length;
    return this.#shape.delta({ content: text });
  }

  /** What the block that ends now refers to. */
  #cited(): ChatChunk | undefined {
    const span = { start: this.#blockStart, end: this.#textLength };
    const citations = this.#citations.flatMap((citation) => urlCitation(citation, span));
    this.#citations = [];
    return citations.length === 0 ? undefined : this.#shape.delta(citationFields(citations));
  }

  #arguments({ index }: OpenCall, written: string): ChatChunk {
    return this.#shape.delta({ tool_calls: [{ index, function: { arguments: written } }] });
  }
}

/** The counts of a report; those that are absent stay as they were. */
function countsOf(usage: unknown): Usage {
  const counts: Record<string, number> = {};
  for (const name of COUNTS) {
    const count = countOf(usage, name);
    if (count !== undefined) counts[name] = count;
  }
  const thinking_tokens = countOf(fieldOf(usage, 'output_tokens_details'), 'thinking_tokens');
  return thinking_tokens === undefined
    ? counts
    : { ...counts, output_tokens_details: { thinking_tokens } };
}
