import { randomUUID } from 'node:crypto';
import {
  asList,
  asNumber,
  asObject,
  asText,
  composeAnswer,
  countCompletionTokens,
  countTokens,
  embeddingOf,
  readChatRequest,
  type AnswerText,
  type ChatRequest,
} from '@model-gateway/demo-model/answers';
import { applyStreamFaults, type ChatFault } from '../faults/stream-faults.ts';
import { createChanges } from '../recording/changes.ts';
import { createFaultPlan, faultOf, type FaultPlan } from '../faults/fault-plan.ts';
import { createServedLog, type ServedLog } from '../recording/served-log.ts';
import { extend } from '../wire/extend.ts';
import { applyHttpFaults } from '../faults/http-faults.ts';
import { sendCut } from '../wire/send-cut.ts';
import {
  startHttpServer,
  type HttpServerOptions,
  type RunningHttpServer,
} from '../wire/http-server.ts';
import { writeStream, type StreamOutcome } from '../wire/stream-writer.ts';
import type { Exchange } from '../wire/exchange.ts';
import { messageLines, ndjson, tagOf, wholeMessage } from './ollama-shapes.ts';

/** The operations that a fault can apply to; by default chat and embed. */
export type OllamaOperation = 'chat' | 'embed' | 'tags';

/** The options of an Ollama-style server. */
export interface OllamaServerOptions extends HttpServerOptions {
  /** Its models with their tags; `demo-local:latest` by default. */
  readonly models?: readonly string[];
  readonly tokenDelayMs?: number;
  readonly answer?: AnswerText;
}

/** A running Ollama-style server. */
export interface RunningOllamaServer extends RunningHttpServer, Omit<ServedLog, 'record'> {
  /** `error-chunk` is its `{"error": …}` line. */
  readonly faults: FaultPlan<ChatFault, OllamaOperation>;
}

const VERSION = '0.12.0';
const DIMENSIONS = 64;
const OPERATIONS: Readonly<Record<string, OllamaOperation>> = {
  'POST /api/chat': 'chat',
  'POST /api/embed': 'embed',
  'GET /api/tags': 'tags',
};

/** Starts a server with the Ollama-style API: chat, streamed or not, embed, tags. */
export async function startOllamaServer(
  options: OllamaServerOptions = {},
): Promise<RunningOllamaServer> {
  const { models = ['demo-local:latest'] } = options;
  const faults = createFaultPlan<ChatFault, OllamaOperation>(['chat', 'embed']);
  const changes = createChanges();
  const log = createServedLog(changes);

  async function handle(exchange: Exchange): Promise<void> {
    if (exchange.path === '/') return exchange.send(200, 'text/plain', 'Ollama is running');
    if (exchange.path === '/api/version') return exchange.sendJson(200, { version: VERSION });
    const operation = OPERATIONS[`${exchange.method} ${exchange.path}`];
    if (operation === undefined) return exchange.send(404, 'text/plain', '404 page not found');
    const currentFaults = faults.take(operation);
    if (await applyHttpFaults(exchange, currentFaults, errorBody)) return undefined;
    if (operation === 'tags') return exchange.sendJson(200, { models: models.map(tagOf) });
    const model = asText(asObject(exchange.json).model) ?? '';
    if (!models.includes(model.includes(':') ? model : `${model}:latest`)) {
      return exchange.sendJson(404, { error: `model '${model}' not found` });
    }
    return operation === 'chat' ? chat(exchange, currentFaults) : embed(exchange, model);
  }

  async function chat(exchange: Exchange, currentFaults: readonly ChatFault[]): Promise<void> {
    const request = readOllamaChat(exchange.json);
    if (typeof request === 'string') return exchange.sendJson(400, { error: request });
    const answer = applyStreamFaults(composeAnswer(request, options.answer), currentFaults);
    const counts = faultOf(currentFaults, 'no-usage') === undefined;
    const shape = { model: request.model, answer, counts };
    let outcome: StreamOutcome = { tokens: 0, completed: false };
    if (asObject(exchange.json).stream !== false) {
      exchange.response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const done = faultOf(currentFaults, 'no-done') === undefined;
      outcome = await writeStream(exchange, {
        chunks: messageLines({ ...shape, done }),
        delayMs: options.tokenDelayMs ?? 0,
        faults: currentFaults,
        garbage: '{"model": "half a li\n',
        errorChunk: (message) => ndjson({ error: message }),
      });
    } else if (faultOf(currentFaults, 'cut') !== undefined) {
      await sendCut(exchange, JSON.stringify(wholeMessage(shape)));
    } else if (!exchange.closed.aborted) {
      exchange.sendJson(200, wholeMessage(shape));
      outcome = { tokens: countCompletionTokens(answer), completed: true };
    }
    record(exchange, request.model, answer.promptTokens, outcome);
  }

  function embed(exchange: Exchange, model: string): void {
    const { input } = asObject(exchange.json);
    const texts = typeof input === 'string' ? [input] : asList(input).map(String);
    const promptTokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
    exchange.sendJson(200, {
      model,
      embeddings: texts.map((text) => Array.from(embeddingOf(text, DIMENSIONS))),
      total_duration: 1_000_000,
      load_duration: 100_000,
      ...(promptTokens > 0 ? { prompt_eval_count: promptTokens } : {}),
    });
    record(exchange, model, promptTokens, { tokens: 0, completed: true });
  }

  function record(
    exchange: Exchange,
    model: string,
    promptTokens: number,
    { tokens, completed }: StreamOutcome,
  ): void {
    const requestId = asText(exchange.headers['x-request-id']);
    const id = randomUUID();
    log.record({ id, requestId, model, promptTokens, completionTokens: tokens, completed });
  }

  const server = await startHttpServer(options, handle, changes);
  return extend(extend(server, log), { faults });
}

/** The body is that of the chat-completions API except for these fields. */
function readOllamaChat(body: unknown): ChatRequest | string {
  const request = readChatRequest(body);
  if (typeof request === 'string') return request;
  const { options, think = false, format } = asObject(body);
  return {
    ...request,
    maxTokens: asNumber(asObject(options).num_predict),
    isReasoning: think !== false,
    ...(format === undefined ? {} : { json: { schema: format === 'json' ? undefined : format } }),
  };
}

const errorBody = (_status: number, message: string): unknown => ({ error: message });
