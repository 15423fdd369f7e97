import type { BackendConfig } from '@model-gateway/router';
import type { SectionValue } from '../sections.ts';

/** What the kinds of backends and the network say of entries; this package knows neither. */
export interface EntryRules {
  readonly registrationOf: (value: SectionValue<'backends'>) => BackendConfig;
  /** Throws a ServiceError for what the registration of a backend refuses. */
  readonly assertRegistration: (config: BackendConfig) => void;
  /** Whether webhooks may lead to this address. */
  readonly mayReceiveWebhooks: (url: URL) => boolean;
}
