import type { ChatRequest } from '@model-gateway/contracts';
import type { UpstreamChat } from '@model-gateway/router';

// Fields that are for the gateway; no upstream ever sees them.
const OWN_FIELDS = new Set(['conversation_id', 'memory', 'extra', 'provider']);

// What `extra` may not touch, not even where it is absent.
const PROTECTED_FIELDS = new Set([
  ...OWN_FIELDS,
  'model',
  'messages',
  'stream',
  'temperature',
  'max_tokens',
  'options',
]);

/**
 * The body that an upstream is sent: what the client sent, without what is ours, and `extra` laid under it. Fields that the
 * client left null are left out, since some upstreams refuse them.
 */
export function upstreamBody(request: ChatRequest, model: string): UpstreamChat {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(request)) {
    if (!OWN_FIELDS.has(name) && value !== null) body[name] = value;
  }
  const extra: unknown = request['extra'];
  if (typeof extra === 'object' && extra !== null && !Array.isArray(extra)) {
    for (const [name, value] of Object.entries(extra)) {
      if (!PROTECTED_FIELDS.has(name) && !Object.hasOwn(body, name)) body[name] = value;
    }
  }
  return { ...body, model };
}
