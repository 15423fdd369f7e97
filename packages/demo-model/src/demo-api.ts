import { chatError } from './chat/completion-shapes.ts';
import { OPERATION_PATHS, type OperationName } from './operations/operations.ts';

/** A whole answer in JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** What the models of the demo can do together. */
export const DEMO_CAPABILITIES: readonly OperationName[] = [
  ...new Set(Object.values(OPERATION_PATHS)),
];

/** The models of the demo and what each is for. `demo-reasoner` always shows its reasoning. */
export const DEMO_MODEL_CAPABILITIES: Readonly<Record<string, readonly OperationName[]>> = {
  // The one that newcomers know, so that their first request of any kind works.
  'demo-chat': DEMO_CAPABILITIES,
  'demo-reasoner': ['chat', 'completions'],
  'demo-embed': ['embeddings'],
  'demo-rerank': ['rerank'],
  'demo-moderation': ['moderations'],
  'demo-image': ['images'],
  'demo-speech': ['speech'],
  'demo-transcribe': ['transcription'],
};
export const DEMO_MODELS: readonly string[] = Object.keys(DEMO_MODEL_CAPABILITIES);

const MODELS_CREATED = 1_700_000_000;
const PREFIX = '/v1';

/** What a path is for; undefined if the API does not have it. */
export function operationAt(
  method: string,
  path: string,
  prefix = PREFIX,
): OperationName | 'models' | undefined {
  if (!path.startsWith(`${prefix}/`)) return undefined;
  const place = path.slice(prefix.length);
  if (method === 'POST' && Object.hasOwn(OPERATION_PATHS, place)) return OPERATION_PATHS[place];
  const isListing = place === '/models' || place.startsWith('/models/');
  return method === 'GET' && isListing ? 'models' : undefined;
}

/** The list of the models, or the one that a path names. */
export function listModels(models: readonly string[], path: string, prefix = PREFIX): JsonAnswer {
  const entry = (id: string) => ({
    id,
    object: 'model',
    created: MODELS_CREATED,
    owned_by: 'demo',
  });
  const id = path.slice(`${prefix}/models/`.length);
  if (id === '') return { status: 200, body: { object: 'list', data: models.map(entry) } };
  const model = models.find((name) => name === id || encodeURIComponent(name) === id);
  if (model !== undefined) return { status: 200, body: entry(model) };
  return refusal(404, `The model '${id}' does not exist`, 'model_not_found');
}

/** The answers to requests that no operation gets. */
export const REFUSALS = {
  path: (method: string, path: string) =>
    refusal(404, `Invalid URL (${method} ${path})`, 'unknown_url'),
  key: () => refusal(401, 'Incorrect API key provided.', 'invalid_api_key'),
  model: (name: string) =>
    refusal(
      404,
      `The model \`${name}\` does not exist or you do not have access to it.`,
      'model_not_found',
    ),
  request: (message: string) => refusal(400, message, null),
};

function refusal(status: number, message: string, code: string | null): JsonAnswer {
  return { status, body: chatError(message, 'invalid_request_error', code) };
}
