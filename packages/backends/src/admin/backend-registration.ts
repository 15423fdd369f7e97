import {
  ServiceError,
  type backendChangeSchema,
  type backendRegisteredSchema,
  type backendRequestSchema,
} from '@model-gateway/contracts';
import {
  appliedLimits,
  type BackendConfig,
  type BackendLimits,
  type Changed,
  type Router,
} from '@model-gateway/router';
import type { z } from 'zod';
import { resolveKind } from '../factory/backend-kind.ts';
import { healthView } from './backend-view.ts';

type Registered = z.input<typeof backendRegisteredSchema>;

/** Registers a backend and answers with the result of its first probe. */
export async function registerBackend(
  registry: Router['registry'],
  config: BackendConfig,
): Promise<Registered> {
  return registeredView('backend registered', { config, ...(await registry.register(config)) });
}

/** Changes what a body names; undefined if there is no backend of this name. */
export async function changeBackend(
  registry: Router['registry'],
  name: string,
  body: z.output<typeof backendChangeSchema>,
): Promise<Registered | undefined> {
  const changed = await registry.change(name, (config) => changedRegistration(config, body));
  return changed && registeredView('backend changed', changed);
}

function registeredView(
  message: Registered['message'],
  { config: { name, type, url }, index, report }: Changed,
): Registered {
  return { status: 'ok', message, name, type, url, index, ...healthView(report) };
}

/** The registration that a body describes. */
export function registrationOf(body: z.output<typeof backendRequestSchema>): BackendConfig {
  assertOneForm(body);
  return {
    name: body.name ?? body.type,
    type: resolveKind(body.type).name,
    url: body.url,
    apiKey: body.api_key ?? null,
    apiKeys: body.api_keys ?? undefined,
    authHeader: body.auth_header ?? undefined,
    models: body.models ?? [],
    capabilities: body.capabilities ?? null,
    dialects: listOrNone(body.dialects),
    limits: limitsOf(body.limits),
    workflow: body.workflow ?? undefined,
  };
}

/** What a registration takes away from the one that it replaces, where that is easily overlooked. */
export function replacementWarnings(
  earlier: BackendConfig | undefined,
  { name, apiKey, apiKeys }: BackendConfig,
): string[] {
  const hadKey =
    earlier !== undefined && (earlier.apiKey !== null || earlier.apiKeys !== undefined);
  if (!hadKey || apiKey !== null || apiKeys !== undefined) return [];
  return [
    `the backend '${name}' has no key any more: a registration replaces all fields; send 'api_key', or change single fields with PATCH`,
  ];
}

/** The registration with the changes of a body; what the body does not have stays. */
function changedRegistration(
  config: BackendConfig,
  body: z.output<typeof backendChangeSchema>,
): BackendConfig {
  if (config.type === 'agent') {
    throw new ServiceError(
      'invalid_request',
      `the backend '${config.name}' belongs to a GPU node; use agents.deploy and agents.stop`,
    );
  }
  assertOneForm(body);
  const { type, url, auth_header: authHeader, models } = body;
  const { capabilities, dialects, limits } = body;
  const keys = changedKeys(config, body);
  if (url !== undefined && keys === undefined) assertSameHost(config, url);
  return {
    ...config,
    type: type === undefined ? config.type : resolveKind(type).name,
    url: url ?? config.url,
    ...keys,
    authHeader: authHeader === undefined ? config.authHeader : (authHeader ?? undefined),
    models: models === undefined ? config.models : (models ?? []),
    capabilities: capabilities === undefined ? config.capabilities : capabilities,
    dialects: dialects === undefined ? config.dialects : listOrNone(dialects),
    limits: limits === undefined ? config.limits : limitsOf(limits),
  };
}

type KeyFields = Pick<z.output<typeof backendChangeSchema>, 'api_key' | 'api_keys'>;

function assertOneForm({ api_key: one, api_keys: several }: KeyFields): void {
  if (typeof one !== 'string' || several === null || several === undefined) return;
  throw new ServiceError('missing_fields', "'api_keys': give it or 'api_key', not both");
}

/** One key replaces several and the other way around; undefined if the body has neither. */
function changedKeys(
  { apiKey, apiKeys }: BackendConfig,
  { api_key: one, api_keys: several }: KeyFields,
): Pick<BackendConfig, 'apiKey' | 'apiKeys'> | undefined {
  if (one === undefined && several === undefined) return undefined;
  if (typeof one === 'string') return { apiKey: one, apiKeys: undefined };
  if (Array.isArray(several)) return { apiKey: null, apiKeys: several };
  return {
    apiKey: one === null ? null : apiKey,
    apiKeys: several === null ? undefined : apiKeys,
  };
}

function limitsOf(
  limits: z.output<typeof backendRequestSchema>['limits'],
): BackendLimits | undefined {
  if (limits === null || limits === undefined) return undefined;
  const { tokens_per_day: tokensPerDay, ...others } = limits;
  return appliedLimits({ ...others, tokensPerDay });
}

const listOrNone = (list: readonly string[] | null | undefined): readonly string[] | undefined =>
  list === null || list === undefined || list.length === 0 ? undefined : list;

/** A stored key is never shown: a new URL must not be a way to read it. */
function assertSameHost({ url: current, apiKey, apiKeys }: BackendConfig, next: string): void {
  if ((apiKey === null && apiKeys === undefined) || originOf(current) === originOf(next)) return;
  throw new ServiceError(
    'invalid_request',
    "a 'url' with another host or port needs 'api_key' too: the stored key is not sent there",
  );
}

/** Scheme, host and port; the path of a bridge URL names the server too. */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url === undefined || url.protocol === 'bridge:' ? text : `${url.protocol}//${url.host}`;
}
