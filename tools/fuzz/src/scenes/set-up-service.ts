import { rpcCall } from '@model-gateway/testkit';
import type { SecretSearch } from '../run/secret-search.ts';
import {
  modelOf,
  UPSTREAM_KINDS,
  type ScriptedUpstreams,
  type UpstreamKind,
} from './scripted-upstreams.ts';

interface Installation {
  readonly restUrl: string;
  readonly rpcUrl: string;
  readonly adminToken: string;
  /** Access tokens: the admin's, of the user who calls methods, and of the owner of the API key. */
  readonly tokens: { readonly admin: string; readonly user: string; readonly owner: string };
  readonly upstreams: ScriptedUpstreams;
  readonly secrets: SecretSearch;
}

const UPSTREAM_TYPES = {
  external: 'external',
  local: 'local-server',
  engine: 'engine',
  video: 'cloud-video',
  realtime: 'external',
  anthropic: 'anthropic',
  gemini: 'gemini',
  azure: 'azure',
  responses: 'external',
} as const;

/** Where they are others than those of the type. */
const CAPABILITIES: Partial<Record<UpstreamKind, readonly string[]>> = {
  external: [
    'chat',
    'embeddings',
    'completions',
    'rerank',
    'moderations',
    'images',
    'speech',
    'transcription',
  ],
  realtime: ['realtime'],
};

/** Makes backends, a key, a group, a conversation and a node; returns the values that cases name. */
export async function setUpService(installation: Installation): Promise<Record<string, string>> {
  const { restUrl, rpcUrl, adminToken, tokens, upstreams, secrets } = installation;
  async function call<Result>(method: string, params: object, token: string): Promise<Result> {
    const { error, result } = await rpcCall(rpcUrl, method, params, token);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as Result;
  }
  const unlimited = { monthly_usd_quota: null, monthly_token_quota: null, rpm: null };
  await call('billing.tiers.set', { name: 'free', ...unlimited }, adminToken);
  await restoreBackends(installation);
  const { key } = await call<{ key: string }>('keys.create', { name: 'rest' }, tokens.owner);
  const own = await call<{ id: string }>('keys.create', { name: 'own' }, tokens.user);
  const group = await call<{ id: string }>('group.create', { name: 'Fuzz' }, tokens.user);
  const conversation = await call<{ id: string }>('conversations.create', {}, tokens.user);
  const node = await call<{ agent_id: string; token: string }>(
    'agents.register',
    { machine_name: 'fuzz', version: '1' },
    tokens.admin,
  );
  const responseId = await storeResponse(restUrl, key);
  const bearers = {
    admin_token: adminToken,
    admin_jwt: tokens.admin,
    user_jwt: tokens.user,
    api_key: key,
    node_token: node.token,
  };
  for (const [name, secret] of Object.entries(bearers)) secrets.add(name, secret);
  secrets.add('upstream_key', upstreams.apiKey);
  return {
    ...bearers,
    upstream_key: upstreams.apiKey,
    upstream_url: upstreams.of.external.url,
    model: modelOf('external'),
    key_id: own.id,
    group_id: group.id,
    conversation_id: conversation.id,
    agent_id: node.agent_id,
    response_id: responseId,
    // The item of its input.
    item_id: `msg_${responseId.replace('resp_', '')}i0`,
  };
}

/** A stored response with a large input, for requests that name it. */
async function storeResponse(restUrl: string, key: string): Promise<string> {
  const response = await fetch(`${restUrl}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: modelOf('external'),
      input: [{ type: 'message', role: 'user', content: 'word '.repeat(100_000) }],
    }),
  });
  const { id } = (await response.json()) as { readonly id?: string };
  if (id === undefined) throw new Error(`no response was stored: status ${response.status}`);
  return id;
}

/** Registers the scripted upstreams, where they are missing, and removes every other backend. */
export async function restoreBackends(
  installation: Pick<Installation, 'restUrl' | 'adminToken' | 'upstreams'>,
): Promise<void> {
  const { restUrl, adminToken, upstreams } = installation;
  async function backends<Result>(method: string, body?: object): Promise<Result> {
    const response = await fetch(`${restUrl}/api/admin/backends`, {
      method,
      headers: { authorization: `Bearer ${adminToken}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()) as Result;
  }
  const listed = await backends<{ backends: { health: readonly { name: string }[] } }>('GET');
  const names = listed.backends.health.map(({ name }) => name);
  const isOurs = (name: string): boolean =>
    name.startsWith('agent-') || UPSTREAM_KINDS.some((kind) => kind === name);
  // Indexes close up after a removal.
  for (let index = names.length - 1; index >= 0; index -= 1)
    if (!isOurs(names[index] ?? '')) await backends('DELETE', { index });
  for (const kind of UPSTREAM_KINDS) {
    if (names.includes(kind)) continue;
    const { url, socketUrl } = upstreams.of[kind];
    await backends('POST', {
      type: UPSTREAM_TYPES[kind],
      name: kind,
      url: kind === 'engine' ? socketUrl : url,
      api_key: upstreams.apiKey,
      models: [modelOf(kind)],
      ...(CAPABILITIES[kind] && { capabilities: CAPABILITIES[kind] }),
      ...(kind === 'responses' ? { dialects: ['responses'] } : {}),
    });
  }
}
