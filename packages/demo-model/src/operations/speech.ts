import { countTokens } from '../answering/tokens.ts';
import { wordsOf } from '../answering/words.ts';
import { asText } from '../wire/json.ts';
import type { Operation } from './operation.ts';
import { tonesOf, wavOf } from './wav.ts';

const INPUT_CHARS_MAX = 4_096;
const WORDS_MAX = 100;

/** A tone for each word. It is WAV whatever format is asked for, except for raw samples (`pcm`). */
export const speak: Operation = ({ body }) => {
  const input = asText(body.input);
  if (input === undefined || input === '') return "Missing required parameter: 'input'.";
  if (input.length > INPUT_CHARS_MAX)
    return `Invalid 'input': at most ${INPUT_CHARS_MAX} characters.`;
  const samples = tonesOf(wordsOf(input).slice(0, WORDS_MAX));
  const isRaw = body.response_format === 'pcm';
  return {
    contentType: isRaw ? 'audio/pcm' : 'audio/wav',
    content: isRaw ? samples : wavOf(samples),
    promptTokens: countTokens(input),
    completionTokens: 0,
  };
};
