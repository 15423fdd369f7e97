import { DEMO_CAPABILITIES, DEMO_MODELS } from '@model-gateway/demo-model';
import {
  asObject,
  asText,
  createChat,
  listModels,
  operationAt,
  OPERATIONS,
  REFUSALS,
  chatError,
  type AnswerText,
  type JsonAnswer,
  type Operation,
  type OperationName,
} from '@model-gateway/demo-model/answers';
import { createFaultPlan, faultOf, type FaultPlan } from '../faults/fault-plan.ts';
import { applyHttpFaults } from '../faults/http-faults.ts';
import { applyStreamFaults, type ChatFault } from '../faults/stream-faults.ts';
import { createChanges } from '../recording/changes.ts';
import { createServedLog, type ServedLog } from '../recording/served-log.ts';
import type { Exchange } from '../wire/exchange.ts';
import { extend } from '../wire/extend.ts';
import {
  startHttpServer,
  type HttpServerOptions,
  type RunningHttpServer,
} from '../wire/http-server.ts';
import { answerOperation } from './answer-operation.ts';
import { FAULT_HEADER, FAULT_MARK, parseChatFault, type ChatOperation } from './chat-faults.ts';

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
}

/** A running chat-compatible upstream. */
export interface RunningChatUpstream extends RunningHttpServer, Omit<ServedLog, 'record'> {
  readonly faults: FaultPlan<ChatFault, ChatOperation>;
}

/** Starts the API of the demo model with all faults, and a record of its requests. */
export async function startChatUpstream(
  options: ChatUpstreamOptions = {},
): Promise<RunningChatUpstream> {
  const { models = DEMO_MODELS, apiKey, basePath, tokenDelayMs } = options;
  const faults = createFaultPlan<ChatFault, ChatOperation>(DEMO_CAPABILITIES);
  const changes = createChanges();
  const served = createServedLog(changes);

  async function handle(exchange: Exchange): Promise<void> {
    const { method, path } = exchange;
    const name = operationAt(method, path, basePath);
    if (name === undefined) return send(exchange, REFUSALS.path(method, path));
    if (apiKey !== undefined && exchange.headers.authorization !== `Bearer ${apiKey}`)
      return send(exchange, REFUSALS.key());
    const currentFaults = [...faultsOfRequest(exchange), ...faults.take(name)];
    if (await applyHttpFaults(exchange, currentFaults, errorBody)) return undefined;
    if (name === 'models') return send(exchange, listModels(models, path, basePath));
    const model = asText(asObject(exchange.json).model) ?? '';
    if (!models.includes(withoutFault(model))) return send(exchange, REFUSALS.model(model));
    const operation = faulty(name, options.answer, currentFaults);
    const turn = { exchange, operation, model, faults: currentFaults, tokenDelayMs, served };
    const problem = await answerOperation(turn);
    return problem === undefined ? undefined : send(exchange, REFUSALS.request(problem));
  }

  const server = await startHttpServer(options, handle, changes);
  return extend(extend(server, served), { faults });
}

/** Chat answers with the faults applied; the other operations as they are. */
function faulty(
  name: OperationName,
  textOf: AnswerText | undefined,
  faults: readonly ChatFault[],
): Operation {
  if (name !== 'chat') return OPERATIONS[name];
  return createChat({
    textOf,
    edit: (answer) => applyStreamFaults(answer, faults),
    done: faultOf(faults, 'no-done') === undefined,
  });
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

const send = (exchange: Exchange, { status, body }: JsonAnswer): void =>
  exchange.sendJson(status, body);

const errorBody = (status: number, message: string): unknown =>
  status === 429
    ? chatError(message, 'requests', 'rate_limit_exceeded')
    : chatError(message, status < 500 ? 'invalid_request_error' : 'server_error');
