import type { ChatRequest, UpstreamChat } from '@model-gateway/contracts';

// Fields for the gateway; they are not sent to upstreams.
const OWN_FIELDS = new Set(['conversation_id', 'memory', 'extra', 'provider', 'models']);

// Fields that `extra` may not set, even if they are absent.
const PROTECTED_FIELDS = new Set([
  ...OWN_FIELDS,
  'model',
  'messages',
  'stream',
  'temperature',
  'max_tokens',
  'options',
]);

// The order of the fields that every surface knows. Streaming adapters add the last two themselves.
const FIRST_FIELDS = ['temperature', 'max_tokens', 'tools'];
const LAST_FIELDS = ['stream', 'stream_options'];
const PLACED_FIELDS = new Set(['model', 'messages', ...FIRST_FIELDS, ...LAST_FIELDS]);

/**
 * The body for an upstream: the client's fields without those for the gateway, with `extra` as defaults. Null fields are
 * omitted, since some upstreams reject them. The order of fields is fixed, so that the same turn has the same bytes.
 */
export function upstreamBody(request: ChatRequest, model: string): UpstreamChat {
  const given = givenFields(request);
  const body: Record<string, unknown> & UpstreamChat = { model, messages: request.messages };
  place(FIRST_FIELDS, given, body);
  const others = Object.keys(given).filter((name) => !PLACED_FIELDS.has(name));
  place(others.length < 2 ? others : others.toSorted(), given, body);
  place(LAST_FIELDS, given, body);
  return body;
}

function place(
  names: readonly string[],
  given: Readonly<Record<string, unknown>>,
  body: Record<string, unknown>,
): void {
  for (const name of names) if (Object.hasOwn(given, name)) body[name] = given[name];
}

function givenFields(request: ChatRequest): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(request)) {
    const value = request[name];
    if (!OWN_FIELDS.has(name) && value !== null && value !== undefined) given[name] = value;
  }
  const extra: unknown = request['extra'];
  if (typeof extra === 'object' && extra !== null && !Array.isArray(extra)) {
    for (const [name, value] of Object.entries(extra)) {
      if (!PROTECTED_FIELDS.has(name) && !Object.hasOwn(given, name)) given[name] = value;
    }
  }
  return given;
}
