import type { ImagePart, TurnUsage } from '@model-gateway/contracts';
import { unreadableAnswer } from '../errors/upstream-error.ts';
import { countOf, fieldOf, isFields, listOf, textOf } from '../fields.ts';

const PARTS_MAX = 10_000;

/** What an answer of `generateContent`, or one event of a stream, says. */
export interface GeminiAnswer {
  readonly parts: readonly GeminiPart[];
  readonly finishReason: string | undefined;
  /** Why the prompt was refused. */
  readonly blockReason: string | undefined;
  readonly usage: TurnUsage | undefined;
  readonly model: string | undefined;
  readonly id: string | undefined;
}

export interface GeminiPart {
  readonly text: string;
  readonly isThought: boolean;
  readonly call: GeminiCall | undefined;
  readonly image: ImagePart | undefined;
}

interface GeminiCall {
  readonly id: string | undefined;
  readonly name: string;
  readonly arguments: unknown;
  readonly signature: string | undefined;
}

/** Reads an answer without a schema, because this runs for each event of a stream. */
export function readAnswer(value: unknown): GeminiAnswer {
  if (!isFields(value)) throw unreadable();
  const { candidates = [] } = value;
  if (!Array.isArray(candidates)) throw unreadable();
  const candidate: unknown = candidates[0];
  const parts = listOf(fieldOf(candidate, 'content'), 'parts');
  if (parts.length > PARTS_MAX) throw unreadable();
  return {
    parts: parts.map(partOf),
    finishReason: textOf(candidate, 'finishReason'),
    blockReason: textOf(value['promptFeedback'], 'blockReason'),
    usage: usageOf(value['usageMetadata']),
    model: textOf(value, 'modelVersion'),
    id: textOf(value, 'responseId'),
  };
}

function partOf(part: unknown): GeminiPart {
  const called = fieldOf(part, 'functionCall');
  const isThought = fieldOf(part, 'thought') === true;
  return {
    text: textOf(part, 'text') ?? '',
    isThought,
    call: called === undefined ? undefined : callOf(called, textOf(part, 'thoughtSignature')),
    image: isThought ? undefined : imageOf(fieldOf(part, 'inlineData')),
  };
}

function imageOf(inline: unknown): ImagePart | undefined {
  const mediaType = textOf(inline, 'mimeType');
  const data = textOf(inline, 'data');
  return mediaType?.startsWith('image/') && data !== undefined
    ? { type: 'image', source: { type: 'data', mediaType, data } }
    : undefined;
}

function callOf(called: unknown, signature: string | undefined): GeminiCall {
  const name = textOf(called, 'name');
  if (name === undefined) throw unreadable();
  const args = fieldOf(called, 'args') ?? {};
  return { id: textOf(called, 'id') || undefined, name, arguments: args, signature };
}

/** Thoughts are counted apart from the answer. */
function usageOf(usage: unknown): TurnUsage | undefined {
  if (!isFields(usage)) return undefined;
  const reasoningTokens = countOf(usage, 'thoughtsTokenCount');
  const cachedTokens = countOf(usage, 'cachedContentTokenCount');
  return {
    promptTokens:
      (countOf(usage, 'promptTokenCount') ?? 0) + (countOf(usage, 'toolUsePromptTokenCount') ?? 0),
    completionTokens: (countOf(usage, 'candidatesTokenCount') ?? 0) + (reasoningTokens ?? 0),
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...mediaOf(usage),
  };
}

function mediaOf(usage: unknown): Pick<TurnUsage, 'mediaTokens'> {
  const mediaTokens = {
    audio_input: countBy(usage, 'promptTokensDetails', 'AUDIO'),
    cached_audio_input: countBy(usage, 'cacheTokensDetails', 'AUDIO'),
    audio_output: countBy(usage, 'candidatesTokensDetails', 'AUDIO'),
    image_output: countBy(usage, 'candidatesTokensDetails', 'IMAGE'),
  };
  return Object.values(mediaTokens).every((count) => count === 0) ? {} : { mediaTokens };
}

/** The counts of tokens are listed by what they are. */
const countBy = (usage: unknown, list: string, modality: string): number =>
  listOf(usage, list)
    .filter((count) => textOf(count, 'modality') === modality)
    .reduce<number>((sum, count) => sum + (countOf(count, 'tokenCount') ?? 0), 0);

const unreadable = () => unreadableAnswer('the upstream response is not one of its API');
