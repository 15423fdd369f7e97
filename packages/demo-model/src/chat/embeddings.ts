import { countTokens } from '../answering/tokens.ts';
import { embeddingOf } from '../answering/embedding.ts';
import { asList, asNumber, isObject } from '../wire/json.ts';

/** The body of an embeddings response, and its tokens. */
export interface EmbeddingsAnswer {
  readonly body: unknown;
  readonly promptTokens: number;
}

const DIMENSIONS = 256;
const DIMENSIONS_MAX = 4_096;

/** Embeds the inputs of a request: a text, texts, or tokens as numbers; returns an error message if it is invalid. */
export function embed(
  request: unknown,
  model: string,
  withUsage: boolean,
): EmbeddingsAnswer | string {
  const json = isObject(request) ? request : {};
  const inputs = readInputs(json.input);
  if (inputs === undefined || inputs.length === 0) return "Missing required parameter: 'input'.";
  const dimensions = Math.min(asNumber(json.dimensions) ?? DIMENSIONS, DIMENSIONS_MAX);
  const base64 = json.encoding_format === 'base64';
  const promptTokens = inputs.reduce((sum, input) => sum + input.tokens, 0);
  const data = inputs.map(({ text }, index) => {
    const vector = embeddingOf(text, dimensions);
    return { object: 'embedding', index, embedding: base64 ? toBase64(vector) : [...vector] };
  });
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return { body: { object: 'list', data, model, ...(withUsage ? { usage } : {}) }, promptTokens };
}

interface Input {
  readonly text: string;
  readonly tokens: number;
}

function readInputs(value: unknown): readonly Input[] | undefined {
  if (typeof value === 'string') return [{ text: value, tokens: countTokens(value) }];
  const list = asList(value);
  if (isTokenList(list)) return [{ text: list.join(' '), tokens: list.length }];
  const inputs = list.flatMap((item) => {
    if (typeof item === 'string') return [{ text: item, tokens: countTokens(item) }];
    const tokens = asList(item);
    return isTokenList(tokens) ? [{ text: tokens.join(' '), tokens: tokens.length }] : [];
  });
  return inputs.length === list.length ? inputs : undefined;
}

function isTokenList(list: readonly unknown[]): list is readonly number[] {
  return list.length > 0 && list.every((item) => typeof item === 'number');
}

function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}
