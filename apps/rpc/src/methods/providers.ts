import type { Provider, Providers } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';
import { TEST } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';

const PROVIDERS_MAX = 10_000;

async function providerState(providerId: string, stores: DatabaseStores) {
  return (await stores.providers.list(PROVIDERS_MAX)).find(({ id }) => id === providerId);
}

export function createProvidersMethods({
  providers,
}: {
  readonly providers: Providers;
}): HandlersOf<'providers'> {
  return {
    'providers.list': async ({ after, limit }) => {
      const page = { after: after ?? undefined, countMax: limit };
      return (await providers.list(page)).map(providerRecord);
    },
    'providers.add': {
      audit: {
        target: ({ params }) => `provider:${params.id}`,
        state: ({ params }, stores) => providerState(params.id, stores),
      },
      handle: async ({ id, name, description, website_domain }) => {
        await providers.add({ id, name, description, websiteDomain: website_domain });
        return { ok: true };
      },
    },
    'providers.update': {
      audit: {
        target: ({ params }) => `provider:${params.provider_id}`,
        state: ({ params }, stores) => providerState(params.provider_id, stores),
      },
      handle: async ({ provider_id, name, description, website_domain }) => {
        await providers.update(provider_id, { name, description, websiteDomain: website_domain });
        return { ok: true };
      },
    },
    'providers.remove': {
      audit: {
        target: ({ params }) => `provider:${params.provider_id}`,
        state: ({ params }, stores) => providerState(params.provider_id, stores),
      },
      handle: async ({ provider_id }) => {
        await providers.remove(provider_id);
        return { ok: true };
      },
    },
    'providers.test': {
      audit: TEST,
      handle: async () => ({ ok: true, message: 'provider test is not implemented' }),
    },
  };
}

function providerRecord(provider: Provider): RpcResult<'providers.list'>[number] {
  return {
    id: provider.id,
    name: provider.name,
    description: provider.description,
    website_domain: provider.websiteDomain,
    is_official: provider.isOfficial,
    is_operator: provider.isOperator,
  };
}
