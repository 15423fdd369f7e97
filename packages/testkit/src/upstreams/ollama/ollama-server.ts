import { randomUUID } from 'node:crypto';
import {
  asList,
  asNumber,
  asObject,
  asText,
  bendAnswer,
  composeAnswer,
  countCompletionTokens,
  countTokens,
  createChanges,
  createFaultPlan,
  createServedLog,
  embeddingOf,
  extend,
  faultOf,
  isHttpFault,
  isStreamFault,
  playHttpFaults,
  readChatRequest,
  sendCut,
  startHttpServer,
  writeStream,
  type AnswerText,
  type ChatRequest,
  type Exchange,
  type FaultPlan,
  type HttpFault,
  type HttpServerOptions,
  type RunningHttpServer,
  type ServedLog,
  type StreamFault,
  type StreamOutcome,
} from '@model-gateway/demo-model/server-parts';
import { messageLines, ndjson, tagOf, wholeMessage } from './ollama-shapes.ts';

/** Everything that can go wrong with an Ollama-style server; `error-chunk` is its `{"error": …}` line. */
export type OllamaFault = HttpFault | StreamFault;

/** What faults can be aimed at; without a target they meet chat and embed. */
export type OllamaOperation = 'chat' | 'embed' | 'tags';

/** How an Ollama-style server is started. */
export interface OllamaServerOptions extends HttpServerOptions {
  /** Its models with their tags; `demo-local:latest` by default. */
  readonly models?: readonly string[];
  readonly tokenDelayMs?: number;
  readonly answer?: AnswerText;
}

/** A running Ollama-style server. */
export interface RunningOllamaServer extends RunningHttpServer, Omit<ServedLog, 'record'> {
  readonly faults: FaultPlan<OllamaFault, OllamaOperation>;
}

const VERSION = '0.12.0';
const DIMENSIONS = 64;
const OPERATIONS: Readonly<Record<string, OllamaOperation>> = {
  'POST /api/chat': 'chat',
  'POST /api/embed': 'embed',
  'GET /api/tags': 'tags',
};

/** Starts a server that speaks the Ollama-style API: chat as NDJSON or whole, embed, tags. */
export async function startOllamaServer(
  options: OllamaServerOptions = {},
): Promise<RunningOllamaServer> {
  const { models = ['demo-local:latest'] } = options;
  const faults = createFaultPlan<OllamaFault, OllamaOperation>(['chat', 'embed']);
  const changes = createChanges();
  const log = createServedLog(changes);

  async function handle(exchange: Exchange): Promise<void> {
    if (exchange.path === '/') return exchange.send(200, 'text/plain', 'Ollama is running');
    if (exchange.path === '/api/version') return exchange.sendJson(200, { version: VERSION });
    const operation = OPERATIONS[`${exchange.method} ${exchange.path}`];
    if (operation === undefined) return exchange.send(404, 'text/plain', '404 page not found');
    const met = faults.take(operation);
    if (await playHttpFaults(exchange, met.filter(isHttpFault), errorBody)) return undefined;
    if (operation === 'tags') return exchange.sendJson(200, { models: models.map(tagOf) });
    const model = asText(asObject(exchange.json).model) ?? '';
    if (!models.includes(model.includes(':') ? model : `${model}:latest`)) {
      return exchange.sendJson(404, { error: `model '${model}' not found` });
    }
    const inside = met.filter(isStreamFault);
    return operation === 'chat' ? chat(exchange, inside) : embed(exchange, model);
  }

  async function chat(exchange: Exchange, met: readonly StreamFault[]): Promise<void> {
    const request = readOllamaChat(exchange.json);
    if (typeof request === 'string') return exchange.sendJson(400, { error: request });
    const answer = bendAnswer(composeAnswer(request, options.answer), met);
    const counts = faultOf(met, 'no-usage') === undefined;
    const shape = { model: request.model, answer, counts };
    let outcome: StreamOutcome = { tokens: 0, completed: false };
    if (asObject(exchange.json).stream !== false) {
      exchange.response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const done = faultOf(met, 'no-done') === undefined;
      outcome = await writeStream(exchange, {
        chunks: messageLines({ ...shape, done }),
        delayMs: options.tokenDelayMs ?? 0,
        faults: met,
        garbage: '{"model": "half a li\n',
        errorChunk: (message) => ndjson({ error: message }),
      });
    } else if (faultOf(met, 'cut') !== undefined) {
      await sendCut(exchange, JSON.stringify(wholeMessage(shape)));
    } else if (!exchange.gone.aborted) {
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
  return extend(server, {
    faults,
    get served() {
      return log.served;
    },
    get totals() {
      return log.totals;
    },
  });
}

/** The body is that of the chat-completions API but for the token limit, which is an option here. */
function readOllamaChat(body: unknown): ChatRequest | string {
  const request = readChatRequest(body);
  if (typeof request === 'string') return request;
  return { ...request, maxTokens: asNumber(asObject(asObject(body).options).num_predict) };
}

const errorBody = (_status: number, message: string): unknown => ({ error: message });
