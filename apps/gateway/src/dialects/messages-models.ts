import type { IncomingMessage } from 'node:http';
import type { ModelEntry } from '@model-gateway/contracts';
import { messagesDialect } from '@model-gateway/dialects';
import { pathOf, type ErrorWriter } from '@model-gateway/http';

const MS_PER_SECOND = 1_000;
const MODELS_PATH = '/v1/models';

/** Whether a client of the Messages API asks for models, at the path that two APIs share. */
export const asksAsMessages = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['anthropic-version'] !== undefined;

/** How errors look to a client of the Messages API that asks for models. */
export const modelsErrorWriter = (request: IncomingMessage): ErrorWriter | undefined =>
  asksAsMessages(request) && pathOf(request).startsWith(MODELS_PATH)
    ? (facts) => messagesDialect.writeError(facts)
    : undefined;

/** A model as the Messages API describes it. Null is what the gateway does not know. */
export const messagesModel = ({ id, created, context_length }: ModelEntry) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: new Date(created * MS_PER_SECOND).toISOString(),
  max_input_tokens: context_length ?? null,
  max_tokens: null,
  capabilities: null,
  lifecycle: 'active',
  line: null,
  deprecated_at: null,
  retires_at: null,
});

/** The models that answer messages, on one page. */
export function messagesModels(entries: readonly ModelEntry[]) {
  const data = entries
    .filter(({ capabilities }) => capabilities.includes('chat'))
    .map(messagesModel);
  return {
    data,
    has_more: false,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
