import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { countTokens } from '../answering/tokens.ts';
import { topicsOf } from '../answering/words.ts';
import { asList, asObject, asText } from '../wire/json.ts';
import { jsonReply, type Operation } from './operation.ts';

const DOCUMENTS_MAX = 2_000;
/** More of a document does not change its place. */
const READ_CHARS_MAX = 16 * 1024;
const STEP_MS = 20;

/** Orders documents by the words that they have in common with the query. */
export const rerank: Operation = async ({ model, body, withUsage }) => {
  const query = asText(body.query);
  if (query === undefined || query === '') return "Missing required parameter: 'query'.";
  const documents = asList(body.documents).map(textOf);
  if (documents.length === 0) return "Missing required parameter: 'documents'.";
  if (documents.length > DOCUMENTS_MAX) return `Too many documents: at most ${DOCUMENTS_MAX}.`;
  const topics = topicsOf(query.slice(0, READ_CHARS_MAX));
  const scored: { readonly index: number; readonly relevance_score: number }[] = [];
  let tokens = countTokens(query);
  let stepStartedAt = performance.now();
  for (const [index, document] of documents.entries()) {
    tokens += countTokens(document);
    scored.push({ index, relevance_score: scoreOf(topics, document) });
    if (performance.now() - stepStartedAt < STEP_MS) continue;
    await yieldToEventLoop();
    stepStartedAt = performance.now();
  }
  const best = scored.toSorted((left, right) => right.relevance_score - left.relevance_score);
  const top = Number.isInteger(body.top_n) ? Math.max(1, Number(body.top_n)) : best.length;
  const results = best.slice(0, top).map((result) => ({
    ...result,
    ...(body.return_documents === true ? { document: { text: documents[result.index] } } : {}),
  }));
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return jsonReply(
    { id: `rerank-${randomUUID()}`, model, results, ...(withUsage ? { usage } : {}) },
    tokens,
  );
};

/** A document is a text, or an object with one. */
const textOf = (document: unknown): string =>
  asText(document) ?? asText(asObject(document).text) ?? '';

/** From 0 to 1: the part of the words of both that they have in common. */
function scoreOf(topics: ReadonlySet<string>, document: string): number {
  const own = topicsOf(document.slice(0, READ_CHARS_MAX));
  const common = [...topics].filter((word) => own.has(word)).length;
  const all = topics.size + own.size;
  return all === 0 ? 0 : Math.round(((2 * common) / all) * 10_000) / 10_000;
}
