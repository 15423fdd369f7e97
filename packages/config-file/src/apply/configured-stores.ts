import type { GroupStore } from '@model-gateway/accounts';
import type { PlanStore, PriceStore } from '@model-gateway/billing';
import type { BackendConfigStore, RouteRuleStore } from '@model-gateway/router';
import type { WebhookStore } from '@model-gateway/webhooks';
import type { FileEntryStore } from '../file-entry-store.ts';

/** The stores of what a file configures. */
export interface ConfiguredStores {
  readonly fileEntries: FileEntryStore;
  readonly backendConfigs: BackendConfigStore;
  readonly routeRules: RouteRuleStore;
  readonly plans: PlanStore;
  readonly prices: PriceStore;
  readonly webhooks: WebhookStore;
  readonly groups: Pick<GroupStore, 'find'>;
}
