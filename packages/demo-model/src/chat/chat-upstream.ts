import type { AnswerText } from '../answering/answer.ts';
import { readChatRequest } from '../answering/chat-request.ts';
import { createFaultPlan, type FaultPlan } from '../faults/fault-plan.ts';
import { applyHttpFaults } from '../faults/http-faults.ts';
import type { ChatFault } from '../faults/stream-faults.ts';
import { answerOperation } from '../operations/answer-operation.ts';
import { DEMO_CAPABILITIES, DEMO_MODELS } from '../demo-api.ts';
import { OPERATION_PATHS, OPERATIONS } from '../operations/operations.ts';
import { createChanges } from '../recording/changes.ts';
import { createServedLog, type ServedLog } from '../recording/served-log.ts';
import type { Exchange } from '../wire/exchange.ts';
import { extend } from '../wire/extend.ts';
import {
  startHttpServer,
  type HttpServerOptions,
  type RunningHttpServer,
} from '../wire/http-server.ts';
import { asObject, asText } from '../wire/json.ts';
import { answerChat } from './answer-chat.ts';
import { FAULT_HEADER, FAULT_MARK, parseChatFault, type ChatOperation } from './chat-faults.ts';
import { chatError } from './completion-shapes.ts';

/** The options of a chat-compatible upstream. */
export interface ChatUpstreamOptions extends HttpServerOptions {
  /** The models that it serves; `DEMO_MODELS` by default. */
  readonly models?: readonly string[];
  /** The required bearer key; none by default. */
  readonly apiKey?: string;
  /** The prefix of every route; `/v1` by default. */
  readonly basePath?: string;
  /** The pause before each streamed token after the first; none by default. */
  readonly tokenDelayMs?: number;
  /** The text of an answer; by default it names the demo model and quotes the question. */
  readonly answer?: AnswerText;
  /** Whether a request may set its fault, by header or in its model name; yes by default. */
  readonly requestFaults?: boolean;
}

/** A running chat-compatible upstream. */
export interface RunningChatUpstream extends RunningHttpServer, Omit<ServedLog, 'record'> {
  readonly faults: FaultPlan<ChatFault, ChatOperation>;
}

const MODELS_CREATED = 1_700_000_000;

/** Starts an upstream with the chat-completions API and its neighbors, the list of models, and all faults. */
export async function startChatUpstream(
  options: ChatUpstreamOptions = {},
): Promise<RunningChatUpstream> {
  const { models = DEMO_MODELS, apiKey, basePath = '/v1', requestFaults = true } = options;
  const faults = createFaultPlan<ChatFault, ChatOperation>(DEMO_CAPABILITIES);
  const changes = createChanges();
  const log = createServedLog(changes);

  async function handle(exchange: Exchange): Promise<void> {
    const operation = operationOf(exchange, basePath);
    if (operation === undefined) {
      const message = `Invalid URL (${exchange.method} ${exchange.path})`;
      return refuse(exchange, 404, message, 'unknown_url');
    }
    if (apiKey !== undefined && exchange.headers.authorization !== `Bearer ${apiKey}`) {
      return refuse(exchange, 401, 'Incorrect API key provided.', 'invalid_api_key');
    }
    const ownFaults = requestFaults ? faultsOfRequest(exchange) : [];
    const currentFaults = [...ownFaults, ...faults.take(operation)];
    if (await applyHttpFaults(exchange, currentFaults, errorBody)) return undefined;
    if (operation === 'models') return listModels(exchange, models, `${basePath}/models`);
    const model = asText(asObject(exchange.json).model) ?? '';
    if (!models.includes(requestFaults ? withoutFault(model) : model)) {
      const message = `The model \`${model}\` does not exist or you do not have access to it.`;
      return refuse(exchange, 404, message, 'model_not_found');
    }
    if (operation === 'chat') return chat(exchange, currentFaults);
    const problem = await answerOperation({
      exchange,
      operation: OPERATIONS[operation],
      model,
      faults: currentFaults,
      tokenDelayMs: options.tokenDelayMs ?? 0,
      served: log,
    });
    return problem === undefined ? undefined : refuse(exchange, 400, problem, null);
  }

  function chat(exchange: Exchange, currentFaults: readonly ChatFault[]): Promise<void> | void {
    const request = readChatRequest(exchange.json);
    if (typeof request === 'string') return refuse(exchange, 400, request, null);
    return answerChat({
      exchange,
      request,
      faults: currentFaults,
      answerText: options.answer,
      tokenDelayMs: options.tokenDelayMs ?? 0,
      served: log,
    });
  }

  const server = await startHttpServer(options, handle, changes);
  return extend(extend(server, log), { faults });
}

function operationOf({ method, path }: Exchange, basePath: string): ChatOperation | undefined {
  if (method === 'POST' && path === `${basePath}/chat/completions`) return 'chat';
  const place = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : '';
  if (method === 'POST' && Object.hasOwn(OPERATION_PATHS, place)) return OPERATION_PATHS[place];
  const listing = path === `${basePath}/models` || path.startsWith(`${basePath}/models/`);
  return method === 'GET' && listing ? 'models' : undefined;
}

function faultsOfRequest(exchange: Exchange): readonly ChatFault[] {
  const model = asText(asObject(exchange.json).model) ?? '';
  const texts = [asText(exchange.headers[FAULT_HEADER]), model.split(FAULT_MARK)[1]];
  return texts.flatMap((text) => (text === undefined ? [] : (parseChatFault(text) ?? [])));
}

const withoutFault = (model: string): string => {
  const [name = '', fault] = model.split(FAULT_MARK);
  return fault === undefined || parseChatFault(fault) !== undefined ? name : model;
};

const modelEntry = (id: string) => ({
  id,
  object: 'model',
  created: MODELS_CREATED,
  owned_by: 'demo',
});

function listModels(exchange: Exchange, models: readonly string[], path: string): void {
  if (exchange.path === path) {
    return exchange.sendJson(200, { object: 'list', data: models.map(modelEntry) });
  }
  const id = decodeURIComponent(exchange.path.slice(path.length + 1));
  if (models.includes(id)) return exchange.sendJson(200, modelEntry(id));
  return refuse(exchange, 404, `The model '${id}' does not exist`, 'model_not_found');
}

function refuse(exchange: Exchange, status: number, message: string, code: string | null): void {
  exchange.sendJson(status, chatError(message, 'invalid_request_error', code));
}

const errorBody = (status: number, message: string): unknown =>
  status === 429
    ? chatError(message, 'requests', 'rate_limit_exceeded')
    : chatError(message, status < 500 ? 'invalid_request_error' : 'server_error');
