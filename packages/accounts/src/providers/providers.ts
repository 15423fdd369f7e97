import { ServiceError } from '@model-gateway/contracts';
import { BUILT_IN_PROVIDERS } from './built-in-providers.ts';
import type { NewProvider, Provider, ProviderChanges, ProviderStore } from './provider-store.ts';

/** The listed providers: the built-in ones, which cannot be changed, and custom ones. */
export interface Providers {
  /** The built-in ones first, then the custom ones by name. */
  list(page: {
    readonly after?: string | undefined;
    readonly countMax: number;
  }): Promise<readonly Provider[]>;
  add(provider: Pick<NewProvider, 'id' | 'name'> & Omit<ProviderChanges, 'name'>): Promise<void>;
  update(id: string, changes: ProviderChanges): Promise<void>;
  remove(id: string): Promise<void>;
}

const BUILT_IN_IDS: ReadonlySet<string> = new Set(BUILT_IN_PROVIDERS.map(({ id }) => id));

export function createProviders(store: ProviderStore): Providers {
  return {
    async list({ after, countMax }) {
      const isCustom = after !== undefined && !BUILT_IN_IDS.has(after);
      const builtIn = isCustom
        ? []
        : BUILT_IN_PROVIDERS.slice(indexAfter(after)).slice(0, countMax);
      const left = countMax - builtIn.length;
      return left === 0
        ? builtIn
        : [...builtIn, ...(await store.list(left, isCustom ? after : undefined))];
    },
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

const indexAfter = (after: string | undefined): number =>
  BUILT_IN_PROVIDERS.findIndex(({ id }) => id === after) + 1;

function refuseBuiltIn(id: string): void {
  if (BUILT_IN_IDS.has(id)) {
    throw new ServiceError('provider_built_in', 'built-in providers cannot be changed');
  }
}

const notFound = (): ServiceError => new ServiceError('not_found', 'provider not found');
