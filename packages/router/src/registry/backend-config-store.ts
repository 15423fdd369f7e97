import type { BackendLimits } from '../limits/backend-limits.ts';

/** A backend as an operator registered it. */
export interface BackendConfig {
  readonly name: string;
  readonly type: string;
  readonly url: string;
  readonly apiKey: string | null;
  /** Several keys instead of one, used in turn. */
  readonly apiKeys?: readonly string[] | undefined;
  /** The header of the upstream key and what comes before it, as `authorization: Bearer`, which is the default. */
  readonly authHeader?: string | undefined;
  readonly models: readonly string[];
  /** Null where the kind's own defaults apply. */
  readonly capabilities: readonly string[] | null;
  /** What models can do that cannot do all of it, by id. Not stored: only for backends that the service itself adds. */
  readonly modelCapabilities?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The APIs besides chat completions that the upstream speaks; by default none. */
  readonly dialects?: readonly string[] | undefined;
  /** What it may be sent; undefined where nothing limits it. */
  readonly limits?: BackendLimits | undefined;
  /** Kept for old registrations; no backend reads it. */
  readonly workflow?: Readonly<Record<string, unknown>> | undefined;
}

/** A registration in the store. */
export interface StoredBackendConfig extends BackendConfig {
  /** When the name was first registered. */
  readonly createdAt: Date;
}

/** Stores backend registrations, with encrypted upstream keys. */
export interface BackendConfigStore {
  /** In registration order. */
  list(): Promise<readonly StoredBackendConfig[]>;
  /** The same name replaces the earlier registration in place. */
  save(config: BackendConfig): Promise<void>;
  /** Stores the next registration if the current one is still stored; false, and nothing is stored, if it is not. */
  replace(current: BackendConfig, next: BackendConfig): Promise<boolean>;
  remove(name: string): Promise<void>;
}
