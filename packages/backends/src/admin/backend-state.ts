import type { BackendConfig } from '@model-gateway/router';
import { limitsView } from './backend-view.ts';

/** What the audit log shows of a registration: no secrets. */
export function backendState({
  type,
  url,
  apiKey,
  apiKeys,
  models,
  capabilities,
  authHeader,
  limits,
}: BackendConfig) {
  return {
    type,
    url: withoutSecrets(url),
    has_key: apiKey !== null || apiKeys !== undefined,
    auth_header: authHeader,
    models,
    capabilities,
    limits: limitsView(limits),
  };
}

/** A URL can have a password, or a key in its query. */
function withoutSecrets(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  url.search = url.search === '' ? '' : '?[hidden]';
  return url.href;
}
