import type { AnswerPart, TurnEvent } from '@model-gateway/contracts';
import { MESSAGES_API } from '@model-gateway/dialects';
import { tryParseExactJson } from '@model-gateway/kernel';
import {
  brokenOff,
  cleanMessage,
  unreadableAnswer,
  upstreamFailed,
  upstreamRefused,
} from '../errors/upstream-error.ts';
import { countOf, fieldOf, isFields, textOf, type Fields } from '../fields.ts';
import { eventData } from '../transport/answers/event-data.ts';
import { urlCitation } from './citations.ts';
import { finishOf, usageOf, type Usage } from './messages-answer.ts';

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

/** The events of a streamed answer; the last one has the usage. `secret` is the backend's key, which must not appear in messages. */
export async function* partsOfMessage(
  body: AsyncIterable<Uint8Array>,
  secret: string | null,
): AsyncGenerator<AnswerPart, void, undefined> {
  const reader = new MessageReader(secret);
  for await (const data of eventData(body, { isComplete: () => reader.isOver })) {
    yield reader.read(data);
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

/** What an event says. */
type Said = Omit<AnswerPart, 'own'>;

const NOTHING: Said = { events: [] };
const said = (...events: readonly TurnEvent[]): Said => ({ events });

/** Without schemas, because this runs for each token. */
class MessageReader {
  readonly #secret: string | null;
  #usage: Usage = {};
  /** The tool calls by the index of their blocks. */
  readonly #calls = new Map<number, OpenCall>();
  #textLength = 0;
  /** Of the open text block. */
  #blockStart = 0;
  #citations: unknown[] = [];
  #hasFinished = false;
  isOver = false;

  constructor(secret: string | null) {
    this.#secret = secret;
  }

  read(data: string): AnswerPart {
    const event = tryParseExactJson(data);
    const type = textOf(event, 'type') ?? '';
    if (!isFields(event) || !TYPE.test(type))
      throw unreadableAnswer('the upstream sent an event that is not one of its API');
    return { own: { api: MESSAGES_API, value: event }, ...this.#saidBy(type, event) };
  }

  #saidBy(type: string, event: Fields): Said {
    switch (type) {
      case 'content_block_delta':
        return this.#continued(event);
      case 'content_block_start':
        return this.#started(event);
      case 'content_block_stop':
        return this.#ended(event);
      case 'message_start':
        return this.#begun(event['message']);
      case 'message_delta': {
        const { delta } = event;
        const counts = countsOf(event['usage']);
        this.#usage = { ...this.#usage, ...counts };
        const finish = this.#finish({
          stop_reason: textOf(delta, 'stop_reason'),
          stop_sequence: textOf(delta, 'stop_sequence'),
        });
        if (counts['output_tokens'] === undefined) return finish;
        return { ...finish, usageSoFar: usageOf(this.#usage) };
      }
      case 'message_stop':
        this.isOver = true;
        if (!this.#hasFinished) return this.#finish({});
        // What an upstream does not report is estimated.
        if (this.#usage['output_tokens'] === undefined) return NOTHING;
        return said({ type: 'usage', usage: usageOf(this.#usage) });
      case 'error': {
        const status = ERROR_STATUSES[textOf(event['error'], 'type') ?? ''];
        if (status !== undefined)
          throw upstreamRefused(status, JSON.stringify(event), this.#secret);
        const message = textOf(event['error'], 'message') ?? 'unknown error';
        throw brokenOff(cleanMessage(message, this.#secret));
      }
      default:
        return NOTHING;
    }
  }

  /** The prompt is counted when the answer begins; how much of it came from a cache cannot be estimated. */
  #begun(message: unknown): Said {
    this.#usage = countsOf(fieldOf(message, 'usage'));
    const begun = {
      events: [{ type: 'text', text: '' }],
      model: textOf(message, 'model'),
    } as const;
    if (this.#usage['input_tokens'] === undefined) return begun;
    return { ...begun, usageSoFar: { ...usageOf(this.#usage), completionTokens: 0 } };
  }

  /** Some upstreams end a message without a reason. */
  #finish(stop: Parameters<typeof finishOf>[0]): Said {
    this.#hasFinished = true;
    return said({ type: 'finish', ...finishOf(stop) });
  }

  #started(event: Fields): Said {
    const block = event['content_block'];
    switch (textOf(block, 'type')) {
      case 'tool_use': {
        const index = this.#calls.size;
        const input = fieldOf(block, 'input') ?? {};
        this.#calls.set(countOf(event, 'index') ?? 0, { index, input, hasArguments: false });
        const name = textOf(block, 'name') ?? '';
        return said({ type: 'tool_call', index, id: textOf(block, 'id') ?? '', name });
      }
      case 'redacted_thinking': {
        const encrypted = textOf(block, 'data') ?? '';
        return said({ type: 'reasoning', text: '', encrypted });
      }
      default: {
        this.#blockStart = this.#textLength;
        const text = textOf(block, 'text') ?? '';
        return text === '' ? NOTHING : this.#text(text);
      }
    }
  }

  #continued(event: Fields): Said {
    const { delta } = event;
    const text = textOf(delta, 'text');
    if (text !== undefined) return this.#text(text);
    const thinking = textOf(delta, 'thinking');
    if (thinking !== undefined) return said({ type: 'reasoning', text: thinking });
    const signature = textOf(delta, 'signature');
    if (signature !== undefined) return said({ type: 'reasoning', text: '', signature });
    const citation = fieldOf(delta, 'citation');
    if (citation !== undefined) this.#citations.push(citation);
    const written = textOf(delta, 'partial_json') ?? '';
    const call = this.#calls.get(countOf(event, 'index') ?? 0);
    if (written === '' || call === undefined) return NOTHING;
    call.hasArguments = true;
    return said({ type: 'tool_arguments', index: call.index, text: written });
  }

  /** A call without arguments has no pieces; clients of chat completions parse what they get. */
  #ended(event: Fields): Said {
    if (this.#citations.length > 0) return this.#cited();
    const call = this.#calls.get(countOf(event, 'index') ?? 0);
    if (call === undefined || call.hasArguments) return NOTHING;
    return said({ type: 'tool_arguments', index: call.index, text: JSON.stringify(call.input) });
  }

  #text(text: string): Said {
    this.#textLength += text.length;
    return said({ type: 'text', text });
  }

  /** What the block that ends now refers to. */
  #cited(): Said {
    const span = { start: this.#blockStart, end: this.#textLength };
    const citations = this.#citations.flatMap((citation) => urlCitation(citation, span));
    this.#citations = [];
    return said(...citations.map((citation) => ({ type: 'citation' as const, citation })));
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
