/** The public description of a model provider. No credentials. */
export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly websiteDomain: string;
  readonly isOfficial: boolean;
  readonly isOperator: boolean;
}

export type NewProvider = Pick<Provider, 'id' | 'name' | 'description' | 'websiteDomain'>;

/** Undefined fields stay as they are. */
export interface ProviderChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly websiteDomain?: string | undefined;
}

export interface ProviderStore {
  /** By name, the first ones or those after one. */
  list(countMax: number, after?: string): Promise<readonly Provider[]>;
  /** False when the id is taken. */
  add(provider: NewProvider): Promise<boolean>;
  /** False when there is no such provider. */
  update(id: string, changes: ProviderChanges): Promise<boolean>;
  /** False when there is no such provider. */
  remove(id: string): Promise<boolean>;
}
