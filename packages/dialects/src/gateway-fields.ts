import { chatRequestSchema, type ChatRequest } from '@model-gateway/contracts';

const { model, models, provider, conversation_id, memory, extra } = chatRequestSchema.shape;

/** The fields for the gateway itself, which every API takes beside its own. */
export const gatewayFields = { model, models, provider, conversation_id, memory, extra };

const NAMES = ['models', 'provider', 'conversation_id', 'memory', 'extra'] as const;

/** The names of all of them. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set(['model', ...NAMES]);
/** Those that no upstream gets. */
export const UNSENT_FIELDS: ReadonlySet<string> = new Set(NAMES);

/** Those of a body, for its chat request. */
export function gatewayFieldsOf(body: Readonly<Record<string, unknown>>): Partial<ChatRequest> {
  return Object.fromEntries(
    NAMES.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])),
  );
}
