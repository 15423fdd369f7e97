import type {
  AnswerPart,
  ImagePart,
  ReasoningPart,
  TurnEvent,
  UrlCitation,
} from '@model-gateway/contracts';
import { chatUsage } from './read-answer.ts';
import { callSignatureFields } from '../turn/call-signatures.ts';
import { imageFields } from './images.ts';
import { reasoningFields } from './reply-parts.ts';
import { CHAT_API } from '../turn/upstream-turn.ts';
import { citationFields } from './url-citations.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The fields of every chunk of a streamed completion. */
export interface ChunkHead {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  readonly created: number;
  readonly model: string;
}

/** Writes the parts of one streamed answer as chunks of chat completions. */
export class ChatWriter {
  #head: ChunkHead;
  #hasRole = false;
  #images = 0;

  constructor(head: ChunkHead) {
    this.#head = head;
  }

  chunksOf({ own, events, model, logprobs }: AnswerPart): readonly Fields[] {
    if (own?.api === CHAT_API) return [own.value];
    if (model !== undefined) this.#head = { ...this.#head, model };
    const chunks: Fields[] = [];
    const said = events.filter(({ type }) => type !== 'finish' && type !== 'usage');
    if (said.length > 0) {
      const delta = chatDelta(said, this.#images);
      this.#images += said.filter(({ type }) => type === 'image').length;
      chunks.push(this.#chunk(delta, logprobs === undefined ? undefined : { logprobs }));
    }
    for (const event of events) {
      if (event.type === 'finish') chunks.push(this.#chunk({}, finishFields(event)));
      if (event.type === 'usage') chunks.push(this.#withChoices([], chatUsage(event.usage)));
    }
    return chunks;
  }

  #chunk(given: Fields, fields: Fields | undefined): Fields {
    const delta = this.#hasRole ? given : { role: 'assistant', ...given };
    this.#hasRole = true;
    const choice = { index: 0, delta, finish_reason: null };
    return this.#withChoices([fields === undefined ? choice : { ...choice, ...fields }]);
  }

  /** Field by field, because this runs for each token. */
  #withChoices(choices: readonly unknown[], usage?: object): Fields {
    const { id, created, object, model } = this.#head;
    const chunk = { id, created, object, model, choices };
    return usage === undefined ? chunk : { ...chunk, usage };
  }
}

/** Why an answer ended. Chat completions do not say which text stopped it; that is in a field of its own. */
export const finishFields = ({
  reason,
  stopSequence,
}: Omit<Extract<TurnEvent, { type: 'finish' }>, 'type'>): {
  readonly finish_reason: string;
} & Fields => ({
  finish_reason: reason,
  ...(stopSequence === undefined ? {} : { stop_sequence: stopSequence }),
});

/** The beginning of a call, or a piece of its arguments. */
interface CallPiece {
  readonly index: number;
  readonly begun: Extract<TurnEvent, { type: 'tool_call' }> | undefined;
  written: string;
}

/** What some events add to a message. `imagesBefore` counts the images of the parts before. */
export function chatDelta(events: readonly TurnEvent[], imagesBefore = 0): Fields {
  const [only] = events;
  // Most parts are one text.
  if (events.length === 1 && only?.type === 'text') return { content: only.text };
  const texts: string[] = [];
  const refusals: string[] = [];
  const thoughts: ReasoningPart[] = [];
  const citations: UrlCitation[] = [];
  const images: ImagePart[] = [];
  const calls: CallPiece[] = [];
  for (const event of events) {
    switch (event.type) {
      case 'text':
        texts.push(event.text);
        break;
      case 'refusal':
        refusals.push(event.text);
        break;
      case 'reasoning':
        thoughts.push(event);
        break;
      case 'citation':
        citations.push(event.citation);
        break;
      case 'image':
        images.push(event);
        break;
      case 'tool_call':
        calls.push({ index: event.index, begun: event, written: '' });
        break;
      case 'tool_arguments':
        addArguments(calls, event);
        break;
      default:
    }
  }
  return {
    ...(texts.length === 0 ? {} : { content: texts.join('') }),
    ...(refusals.length === 0 ? {} : { refusal: refusals.join('') }),
    ...thoughtFields(thoughts),
    ...citationFields(citations),
    ...imageFields(images, imagesBefore),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(callDelta) }),
  };
}

function thoughtFields(thoughts: readonly ReasoningPart[]): Fields {
  if (thoughts.length === 0) return {};
  const fields = reasoningFields(thoughts);
  return 'reasoning_details' in fields
    ? fields
    : { reasoning_content: thoughts.map(({ text }) => text).join('') };
}

function addArguments(
  calls: CallPiece[],
  { index, text }: Extract<TurnEvent, { type: 'tool_arguments' }>,
): void {
  const call = calls.find((one) => one.index === index);
  if (call === undefined) calls.push({ index, begun: undefined, written: text });
  else call.written += text;
}

function callDelta({ index, begun, written }: CallPiece): Fields {
  if (begun === undefined) return { index, function: { arguments: written } };
  const { id, name, signature } = begun;
  return {
    index,
    id,
    type: 'function',
    function: { name, arguments: written },
    ...callSignatureFields(signature),
  };
}
