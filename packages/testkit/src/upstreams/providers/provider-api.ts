import { asObject, asText, OPERATIONS } from '@model-gateway/demo-model/answers';
import { answerOperation } from '../chat/answer-operation.ts';
import { createChanges } from '../recording/changes.ts';
import { createServedLog } from '../recording/served-log.ts';
import { startHttpServer, type RunningHttpServer } from '../wire/http-server.ts';
import type { Exchange } from '../wire/exchange.ts';
import type { Provider, ProviderAnswer } from './provider.ts';

type Operation = 'chat' | 'embeddings' | 'models';

/** Starts the chat-completions API of a provider, with its paths, its key header, its listing and its refusals. */
export function startProviderApi(
  provider: Provider,
  apiKey: string | null,
): Promise<RunningHttpServer> {
  const changes = createChanges();
  const served = createServedLog(changes);

  async function handle(exchange: Exchange): Promise<void> {
    const operation = operationIn(exchange, provider.basePath);
    if (operation === undefined) return send(exchange, provider.unknownPath);
    const isPublic = operation === 'models' && provider.isListingPublic;
    if (!isPublic && !hasKey(exchange, provider, apiKey)) return send(exchange, provider.wrongKey);
    if (operation === 'models') return send(exchange, provider.listing);
    const model = asText(asObject(exchange.json).model) ?? '';
    if (!provider.models.includes(model)) return send(exchange, provider.unknownModel(model));
    const turn = { exchange, operation: OPERATIONS[operation], model, faults: [], served };
    const problem = await answerOperation(turn);
    return problem === undefined ? undefined : send(exchange, refused(problem));
  }

  return startHttpServer({}, handle, changes);
}

const send = (exchange: Exchange, { status, body }: ProviderAnswer): void =>
  exchange.sendJson(status, body);

const refused = (message: string): ProviderAnswer => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', code: null, param: null } },
});

function operationIn({ method, path }: Exchange, basePath: string): Operation | undefined {
  if (method === 'GET' && path === `${basePath}/models`) return 'models';
  if (method === 'POST' && path === `${basePath}/chat/completions`) return 'chat';
  if (method === 'POST' && path === `${basePath}/embeddings`) return 'embeddings';
  return undefined;
}

const hasKey = ({ headers }: Exchange, { keyHeaders }: Provider, apiKey: string | null): boolean =>
  apiKey === null ||
  Object.entries(keyHeaders).some(([name, before]) => headers[name] === `${before}${apiKey}`);
