import type { Provider, Providers } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { HandlersOf } from '../protocol/handlers.ts';

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
    'providers.add': async ({ id, name, description, website_domain }) => {
      await providers.add({ id, name, description, websiteDomain: website_domain });
      return { ok: true };
    },
    'providers.update': async ({ provider_id, name, description, website_domain }) => {
      await providers.update(provider_id, { name, description, websiteDomain: website_domain });
      return { ok: true };
    },
    'providers.remove': async ({ provider_id }) => {
      await providers.remove(provider_id);
      return { ok: true };
    },
    'providers.test': async () => ({ ok: true, message: 'provider test is not implemented' }),
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
