import { estimateTokens } from '@model-gateway/billing';
import { namedChoices, namedTokens } from '@model-gateway/contracts';
import { numberOf } from '@model-gateway/kernel';
import type { RelayedCapability } from '@model-gateway/router';
import { choicesOf, property } from '../stream/chunk-fields.ts';
import { tokensOfImages } from '../usage/estimate-usage.ts';
import { tokensOfSeconds } from './audio-length.ts';

/** The fields of a request, from its JSON or its form. */
export type RelayedFields = Readonly<Record<string, unknown>>;

/** A request of an API that passes without translation. */
export interface RelayedOperation {
  readonly capability: RelayedCapability;
  /** Below `/v1` here, and below the base URL at the upstream. */
  readonly path: string;
  /** An estimate of what the model reads; of an upload also by the length of its audio. */
  promptTokens(fields: RelayedFields, uploadSeconds?: number): number;
  /** Whether a complete answer without a count has no tokens of the prompt: it is priced by its images or its audio. */
  readonly isPromptReported: boolean;
  /** How much a request may generate, for its reservation. */
  completionTokens(fields: RelayedFields): number;
  /** The generated text in an answer, for an estimate. */
  textOf(answer: unknown): string;
}

const COMPLETION_TOKENS_DEFAULT = 256;

/** The parts of an operation whose answers are not text. */
const textless = { isPromptReported: false, completionTokens: () => 0, textOf: () => '' };

const transcribing = {
  capability: 'transcription',
  // An estimate: only the upstream knows how long the audio is.
  promptTokens: (_fields: RelayedFields, uploadSeconds = 0) => tokensOfSeconds(uploadSeconds),
  isPromptReported: true,
  completionTokens: () => COMPLETION_TOKENS_DEFAULT,
  textOf: (answer: unknown) => stringOf(property(answer, 'text')),
} as const;

/** Every API that passes without translation. */
export const RELAYED_OPERATIONS = {
  completions: {
    capability: 'completions',
    path: '/completions',
    promptTokens: ({ prompt, suffix }) => tokensOfInput(prompt) + tokensOfInput(suffix),
    isPromptReported: false,
    completionTokens: (fields) =>
      tokensNamed(fields) * namedChoices(fields) * promptsIn(fields['prompt']),
    textOf: (answer) =>
      choicesOf(answer)
        .map((choice) => stringOf(property(choice, 'text')))
        .join(''),
  },
  rerank: {
    capability: 'rerank',
    path: '/rerank',
    promptTokens: ({ query, documents }) => tokensOfInput(query) + tokensOfInput(documents),
    ...textless,
  },
  moderations: {
    capability: 'moderations',
    path: '/moderations',
    promptTokens: ({ input }) => tokensOfInput(input),
    ...textless,
  },
  images: {
    capability: 'images',
    path: '/images/generations',
    promptTokens: ({ prompt }) => tokensOfInput(prompt),
    ...textless,
    isPromptReported: true,
  },
  speech: {
    capability: 'speech',
    path: '/audio/speech',
    promptTokens: ({ input }) => tokensOfInput(input),
    ...textless,
  },
  transcriptions: { ...transcribing, path: '/audio/transcriptions' },
  translations: { ...transcribing, path: '/audio/translations' },
} as const satisfies Readonly<Record<string, RelayedOperation>>;

/** Without tokens of an answer the model only rates the prompt. */
const tokensNamed = (fields: RelayedFields): number =>
  namedTokens(fields) ?? (numberOf(fields['max_tokens']) === 0 ? 0 : COMPLETION_TOKENS_DEFAULT);

/** Several prompts are answered one by one; token ids are one prompt. */
const promptsIn = (prompt: unknown): number =>
  Array.isArray(prompt) && numberOf(prompt[0]) === undefined ? Math.max(prompt.length, 1) : 1;

/** The tokens of a text, of texts, of token ids, or of objects and parts with texts and images. */
function tokensOfInput(input: unknown): number {
  if (typeof input === 'string') return estimateTokens(input);
  if (numberOf(input) !== undefined) return 1;
  if (!Array.isArray(input)) return tokensOfObject(input);
  return input.reduce<number>((sum, one) => sum + tokensOfInput(one), 0);
}

function tokensOfObject(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const images = tokensOfImages([value]);
  if (images > 0) return images;
  const text = property(value, 'text');
  return estimateTokens(typeof text === 'string' ? text : JSON.stringify(value));
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
