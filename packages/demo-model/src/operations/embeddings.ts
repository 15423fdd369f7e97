import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { countTokens } from '../answering/tokens.ts';
import { embeddingOf } from '../answering/embedding.ts';
import { asList } from '../wire/json.ts';
import type { Operation } from './operation.ts';

const DIMENSIONS = 256;
const DIMENSIONS_MAX = 4_096;
/** The values of all vectors together. */
const VALUES_MAX = 2 ** 20;
/** How long the process computes vectors before it serves other requests. */
const STEP_MS = 20;

/** Embeds the inputs of a request: a text, texts, or tokens as numbers. */
export const embed: Operation = async ({ model, body: json, withUsage }) => {
  const inputs = readInputs(json.input);
  if (inputs === undefined || inputs.length === 0) return "Missing required parameter: 'input'.";
  const dimensions = readDimensions(json.dimensions);
  if (dimensions === undefined) return "Invalid 'dimensions': must be a whole number above 0.";
  if (inputs.length * dimensions > VALUES_MAX)
    return `Too many inputs: at most ${Math.floor(VALUES_MAX / dimensions)} of ${dimensions} dimensions.`;
  const base64 = json.encoding_format === 'base64';
  const entries: Buffer[] = [];
  let promptTokens = 0;
  let stepStartedAt = performance.now();
  for (const [index, input] of inputs.entries()) {
    promptTokens += tokensIn(input);
    const vector = embeddingOf(textOf(input), dimensions);
    const embedding = base64 ? toBase64(vector) : [...vector];
    const entry = JSON.stringify({ object: 'embedding', index, embedding });
    entries.push(Buffer.from(index === 0 ? entry : `,${entry}`));
    if (performance.now() - stepStartedAt < STEP_MS) continue;
    await yieldToEventLoop();
    stepStartedAt = performance.now();
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  const rest = JSON.stringify({ model, ...(withUsage ? { usage } : {}) }).slice(1);
  const begin = Buffer.from('{"object":"list","data":[');
  return {
    contentType: 'application/json',
    content: Buffer.concat([begin, ...entries, Buffer.from(`],${rest}`)]),
    promptTokens,
    completionTokens: 0,
  };
};

/** A text, or a list of tokens. */
type Input = string | readonly number[];

function readInputs(value: unknown): readonly Input[] | undefined {
  if (typeof value === 'string') return [value];
  const list = asList(value);
  if (isTokenList(list)) return [list];
  return list.every(isInput) ? list : undefined;
}

const isInput = (item: unknown): item is Input =>
  typeof item === 'string' || isTokenList(asList(item));

const tokensIn = (input: Input): number =>
  typeof input === 'string' ? countTokens(input) : input.length;

const textOf = (input: Input): string => (typeof input === 'string' ? input : input.join(' '));

/** Undefined if they are not valid. */
function readDimensions(value: unknown): number | undefined {
  if (value === undefined || value === null) return DIMENSIONS;
  if (!Number.isSafeInteger(value) || Number(value) < 1) return undefined;
  return Math.min(Number(value), DIMENSIONS_MAX);
}

function isTokenList(list: readonly unknown[]): list is readonly number[] {
  return list.length > 0 && list.every((item) => typeof item === 'number');
}

function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}
