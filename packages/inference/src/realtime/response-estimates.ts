import { createTokenCount, estimateTokens, type TokenCount } from '@model-gateway/billing';
import type { TokenUsage } from '@model-gateway/contracts';
import { numberOf } from '@model-gateway/kernel';
import type { RealtimeEvent } from '@model-gateway/router';
import { LRUCache } from 'lru-cache';
import { tokenUsage } from '../relay/reported-usage.ts';
import { COMPLETION_TOKENS_DEFAULT, type ExpectedUsage } from '../quota/reservation.ts';
import { property } from '../stream/chunk-fields.ts';
import { IMAGE_TOKENS, tokensOfImages } from '../usage/estimate-usage.ts';
import { createSpokenInput } from './spoken-input.ts';

/** Estimates the usage of the responses of a realtime session, for those whose usage is never reported. */
export interface ResponseEstimates {
  /** Takes every event that was sent to the upstream. */
  sent(event: RealtimeEvent): void;
  /** Takes every event of the upstream but `response.done`. */
  observe(event: RealtimeEvent): void;
  /** What the response that begins next is expected to use. */
  expected(): ExpectedUsage;
  /** The estimate of the response that `response.done` ends, and what the upstream reported of it, if it did. */
  takeEnded(event: RealtimeEvent, reported: TokenUsage | undefined): TokenUsage;
  /** The estimates of all others that were requested or have begun. */
  takeAll(): readonly TokenUsage[];
}

/** What a model reads before it responds. */
interface Prompt {
  readonly instructions: number;
  readonly tools: number;
  readonly conversation: number;
  /** How much it may generate; undefined without a maximum. */
  readonly outputMax: number | undefined;
}

interface Response {
  readonly promptTokens: number;
  readonly generated: TokenCount;
  hasDeltas: boolean;
}

const RESPONSES_MAX = 1_000;
const ENDED_MAX = 100;
// Any piece of text: what the model says, thinks or calls. Audio is base64, and its transcript counts.
const PIECE = /^response\.(?!(?:output_)?audio\.).+\.(delta|done)$/;
const WHOLE_TEXTS = ['text', 'transcript', 'arguments'];
const OUTPUT_MAX_NAMES = ['max_output_tokens', 'max_response_output_tokens'];
/** What the user said, as text. */
const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed';
const ITEM_TEXTS = ['name', 'arguments', 'output'];

export function createResponseEstimates(): ResponseEstimates {
  // Responses may run side by side; those that never end must not be kept forever.
  const begun = new LRUCache<string, Response>({ max: RESPONSES_MAX });
  // So that a late event of one does not begin it again, since it would be metered twice.
  const ended = new LRUCache<string, true>({ max: ENDED_MAX });
  const spoken = createSpokenInput();
  let prompt: Prompt = { instructions: 0, tools: 0, conversation: 0, outputMax: undefined };
  let requested: Prompt | undefined;
  /** Some upstreams omit the id of the response in its events. */
  let latestId = '';

  function begin(id: string): Response | undefined {
    const known = begun.peek(id);
    if (known !== undefined || ended.has(id)) return known;
    const promptTokens = sumOf(requested ?? prompt);
    requested = undefined;
    const response = { promptTokens, generated: createTokenCount(), hasDeltas: false };
    begun.set(id, response);
    latestId = id;
    return response;
  }

  function addPiece(event: RealtimeEvent, step: string): void {
    const response = begin(stringAt(event, 'response_id') ?? latestId);
    if (response === undefined) return;
    if (step === 'delta') {
      response.hasDeltas = true;
      response.generated.add(stringAt(event, 'delta') ?? '');
    } else if (!response.hasDeltas) {
      for (const name of WHOLE_TEXTS) response.generated.add(stringAt(event, name) ?? '');
    }
  }

  function take(id: string): TokenUsage {
    const response = begun.get(id);
    begun.delete(id);
    if (id !== '') ended.set(id, true);
    if (id === latestId) latestId = '';
    return tokenUsage(response?.promptTokens ?? sumOf(prompt), response?.generated.tokens ?? 0);
  }

  return {
    sent(event) {
      prompt = withMore(prompt, spoken.sent(event));
      switch (event['type']) {
        case 'session.update':
          prompt = changed(prompt, event['session']);
          break;
        case 'input_image_buffer.append':
          prompt = withMore(prompt, IMAGE_TOKENS);
          break;
        case 'response.create':
          requested = changed(prompt, event['response']);
          break;
        default:
      }
    },
    observe(event) {
      prompt = withMore(prompt, spoken.observe(event));
      const type = stringAt(event, 'type') ?? '';
      const step = PIECE.exec(type)?.[1];
      if (step !== undefined) addPiece(event, step);
      else if (type === 'response.created') begin(stringAt(event['response'], 'id') ?? '');
      else if (type === 'error') requested = undefined;
      else if (type === TRANSCRIBED && !spoken.isCounted)
        prompt = withMore(prompt, estimateTokens(stringAt(event, 'transcript') ?? ''));
    },
    expected() {
      const next = requested ?? prompt;
      return {
        promptTokens: sumOf(next),
        completionTokens: next.outputMax ?? COMPLETION_TOKENS_DEFAULT,
      };
    },
    takeEnded(event, reported) {
      const id = stringAt(event['response'], 'id') ?? latestId;
      const estimate = take(begun.has(id) ? id : '');
      // The next response reads this one; a report also has what cannot be estimated, such as audio.
      prompt =
        reported === undefined
          ? withMore(prompt, estimate.completion_tokens)
          : withConversationOf(prompt, reported.total_tokens);
      return estimate;
    },
    takeAll() {
      const estimates = [...begun.rkeys()].map(take);
      if (requested !== undefined) estimates.push(tokenUsage(sumOf(requested), 0));
      requested = undefined;
      return estimates;
    },
  };
}

/** A prompt with the settings of a session or of one response. */
function changed(prompt: Prompt, settings: unknown): Prompt {
  const instructions = property(settings, 'instructions');
  const tools = property(settings, 'tools');
  const input = property(settings, 'input');
  return {
    instructions:
      typeof instructions === 'string' ? estimateTokens(instructions) : prompt.instructions,
    tools: Array.isArray(tools) ? tokensOfTools(tools) : prompt.tools,
    conversation: Array.isArray(input)
      ? input.reduce((sum: number, item: unknown) => sum + tokensOfItem(item), 0)
      : prompt.conversation,
    outputMax: outputMaxOf(settings, prompt),
  };
}

/** The largest that the settings name, in either generation of names; a text stands for no maximum. */
function outputMaxOf(settings: unknown, before: Prompt): number | undefined {
  const named = OUTPUT_MAX_NAMES.map((name) => property(settings, name)).filter(
    (value) => typeof value === 'string' || (numberOf(value) ?? 0) > 0,
  );
  if (named.length === 0) return before.outputMax;
  const numbers = named.flatMap((value) => numberOf(value) ?? []);
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

const withMore = (prompt: Prompt, tokens: number): Prompt =>
  tokens === 0 ? prompt : { ...prompt, conversation: prompt.conversation + tokens };

const withConversationOf = (prompt: Prompt, totalTokens: number): Prompt => ({
  ...prompt,
  conversation: Math.max(0, totalTokens - prompt.instructions - prompt.tools),
});

const sumOf = ({ instructions, tools, conversation }: Prompt): number =>
  instructions + tools + conversation;

const tokensOfTools = (tools: readonly unknown[]): number =>
  tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools));

/** A message, a call or the result of a call. */
function tokensOfItem(item: unknown): number {
  const parts = property(item, 'content');
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  const texts = [
    ...ITEM_TEXTS.map((name) => stringAt(item, name)),
    ...list.flatMap((part) => [stringAt(part, 'text'), stringAt(part, 'transcript')]),
  ];
  return estimateTokens(texts.join('')) + tokensOfImages(list);
}

function stringAt(value: unknown, name: string): string | undefined {
  const text = property(value, name);
  return typeof text === 'string' ? text : undefined;
}
