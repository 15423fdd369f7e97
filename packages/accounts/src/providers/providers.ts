import { ServiceError } from '@model-gateway/contracts';
import { BUILT_IN_PROVIDERS } from './built-in-providers.ts';
import type { NewProvider, Provider, ProviderChanges, ProviderStore } from './provider-store.ts';

/** The listed providers: the built-in ones, which cannot be changed, and custom ones. */
export interface Providers {
  /** The built-in ones first, then the custom ones by name. */
  list(): Promise<readonly Provider[]>;
  add(provider: Pick<NewProvider, 'id' | 'name'> & Omit<ProviderChanges, 'name'>): Promise<void>;
  update(id: string, changes: ProviderChanges): Promise<void>;
  remove(id: string): Promise<void>;
}

const CUSTOM_LISTED_MAX = 1_000;
const BUILT_IN_IDS: ReadonlySet<string> = new Set(BUILT_IN_PROVIDERS.map(({ id }) => id));

export function createProviders(store: ProviderStore): Providers {
  return {
    list: async () => [...BUILT_IN_PROVIDERS, ...(await store.list(CUSTOM_LISTED_MAX))],
    async add({ id, name, description = '', websiteDomain = '' }) {
      const isNew =
        !BUILT_IN_IDS.has(id) && (await store.add({ id, name, description, websiteDomain }));
      if (!isNew) throw new ServiceError('provider_exists', 'provider already exists');
    },
    async update(id, changes) {
      refuseBuiltIn(id);
      if (!(await store.update(id, changes))) throw notFound();
    },
    async remove(id) {
      refuseBuiltIn(id);
      if (!(await store.remove(id))) throw notFound();
    },
  };
}

function refuseBuiltIn(id: string): void {
  if (BUILT_IN_IDS.has(id)) {
    throw new ServiceError('provider_built_in', 'built-in providers cannot be changed');
  }
}

const notFound = (): ServiceError => new ServiceError('not_found', 'provider not found');
